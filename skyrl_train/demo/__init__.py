"""Three small tasks made here, for trying the whole way from a prompt to a reward without network, GPU or data set."""
