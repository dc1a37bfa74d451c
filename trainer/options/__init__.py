"""Options of training as frozen dataclasses. Nothing here reads a file, torch or numpy."""
