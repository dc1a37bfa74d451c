"""The encoder that ships with xmine: static, nineteen languages and packs of more. Its card is README.md."""
