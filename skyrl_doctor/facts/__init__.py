"""Facts: frozen records of what a machine is like, and the pure parsers that make them."""
