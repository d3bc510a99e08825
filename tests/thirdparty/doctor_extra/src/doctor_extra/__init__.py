"""A site's own checks."""
