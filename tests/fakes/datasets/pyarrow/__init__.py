"""A parquet reader for files that are JSON: {"groups": [[row, …], …]}."""
