"""From a plan and a machine to the trainer's memory model: what `budget` and the checks MEM both ask."""
