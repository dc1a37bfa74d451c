"""The encoder that ships with xmine: static, with packs of further languages. Card: README.md."""
