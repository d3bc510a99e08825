"""The ten checks of the benchmark, for the doctor: found by entry points like anybody's."""
