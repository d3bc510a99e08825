"""verl: a command line, a shell script with one, or a Hydra YAML, over the defaults of a verl version."""
