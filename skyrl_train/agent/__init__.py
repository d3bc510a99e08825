"""The agent: function calls in text, tools, the loop between model and sandbox, and the transcript."""
