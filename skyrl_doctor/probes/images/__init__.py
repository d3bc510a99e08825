"""Looks at the images that a run needs."""
