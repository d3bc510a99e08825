"""Turns a plan and a machine into a question to the trainer's memory model, and shows the result."""
