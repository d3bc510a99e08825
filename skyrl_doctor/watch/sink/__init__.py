"""Where alerts go. None of these can stop the watch, and none can stop the job."""
