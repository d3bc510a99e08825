"""Training: verl's V1 trainer with our agent loop, through verl's public extension points only. See docs/adr/0020."""
