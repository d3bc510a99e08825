"""What a node needs before a job starts: pure rules, shared by `skyrl-doctor env`, `fix` and the sbatch scripts."""
