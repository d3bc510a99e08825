"""Where findings go. None of these can stop the watch, and the watch cannot stop the job by any of them."""
