"""Dialects: each module turns the leaves of a file into canonical values."""
