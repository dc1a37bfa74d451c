"""Measure an encoder the way the field does: one file per benchmark family."""
