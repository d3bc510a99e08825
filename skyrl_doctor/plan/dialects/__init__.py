"""Dialects: leaves of a file become canonical values. One module each."""
