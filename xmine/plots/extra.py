"""The error for a plot or a benchmark whose optional libraries are not installed."""
