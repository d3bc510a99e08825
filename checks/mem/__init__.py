"""Failures of memory: what a run needs beside what a device has."""
