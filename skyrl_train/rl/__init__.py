"""Training: verl's V1 trainer with our agent loop, using only verl's public extension points. See docs/adr/0020."""
