"""Pure rules for what a node needs before a job starts. `skyrl-doctor env`, `fix` and the batch scripts use them."""
