"""The encoder that ships with xmine: nineteen languages, static. Its card is README.md."""
