"""The screens, one file each; what all of them have is in `viewing`."""
