"""Plugins of pytest that put our code in the place of another project's."""
