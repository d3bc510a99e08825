"""Three small tasks that run from prompt to reward without network, GPU or data set."""
