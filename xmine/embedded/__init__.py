"""The encoder that ships with xmine: English and Chinese, static. Its card is README.md."""
