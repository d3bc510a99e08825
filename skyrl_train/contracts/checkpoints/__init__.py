"""verl's checkpoint layout, our manifest of it, and the rules for a resume."""
