"""The tables of a RunConfig, one file each."""
