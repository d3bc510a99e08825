"""The live view of a terminal."""
