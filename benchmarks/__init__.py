"""Commands that measure this project beside others; they print ratios and assert nothing."""
