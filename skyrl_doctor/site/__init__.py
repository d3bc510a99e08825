"""Checks a site's installation of contrib/slurm: the files, and one job of each kind."""
