"""Reports: one pure function a format, Report -> text."""
