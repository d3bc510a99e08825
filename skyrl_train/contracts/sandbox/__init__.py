"""Image references, images and the wire format of the sandbox runtime."""
