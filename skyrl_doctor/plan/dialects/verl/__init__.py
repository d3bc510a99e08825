"""verl: a command line, a shell script that holds one, or a Hydra YAML, over the defaults of a verl version."""
