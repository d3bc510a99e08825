"""Judges public launch scripts and configurations, and compares the doctor with what their own programs say."""
