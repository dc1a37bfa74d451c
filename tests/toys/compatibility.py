"""Text -> the same text in compatibility forms of its characters, which NFKC takes back."""

import unicodedata

BLOCKS = {
    "full-width": range(0xFF01, 0xFF5F),
    "mathematical bold": range(0x1D400, 0x1D434),
    "Arabic presentation": range(0xFE80, 0xFEFD),  # as text comes out of PDF files
}


def in_forms(text: str, block: str) -> str:
    """Write every character that a block has a form of in that form."""
    forms = {unicodedata.normalize("NFKC", chr(code)): chr(code) for code in BLOCKS[block]}
    return "".join(forms.get(character, character) for character in text)
