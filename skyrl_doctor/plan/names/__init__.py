"""The names of settings in other dialects, by canonical key. These tables import nothing of the plan."""
