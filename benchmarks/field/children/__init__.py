"""Programs for the interpreter of `--python`, which has hydra-core and pydantic. They import nothing of the doctor."""
