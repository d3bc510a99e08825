"""What is known of the images that a run needs."""
