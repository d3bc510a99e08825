"""The images that a run needs: in the dataset, in the store, and in archives."""
