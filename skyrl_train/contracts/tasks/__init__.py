"""Task rows and the images that they name."""
