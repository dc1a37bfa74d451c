"""Toy data and helpers that several tests use; no test and no fixture lives here."""
