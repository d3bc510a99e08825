#!/bin/bash
#SBATCH --job-name=skyrl-trainer-run
#SBATCH --comment=/w/jobs/1_launch
#SBATCH --output=/w/jobs/1_launch/training_%j.out
#SBATCH --error=/w/jobs/1_launch/training_%j.err
#SBATCH --open-mode=append
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=96
#SBATCH --mem=65536M
#SBATCH --gres=gpu:8
#SBATCH --time=6:00:00
#SBATCH --no-requeue
#SBATCH --signal=B:USR1@300
# The trainer job of the launch in /w/jobs/1_launch.
set -euo pipefail
trap "" USR1 # Slurm's warning before the time limit must not end the job before the handler is installed
cd /w
export SKYRL_JOB_DIR=/w/jobs/1_launch
# 4 nodes: each applies its settings from trainer_node.sh, first for the doctor's checks, then for Ray:
#   srun --export=ALL --nodes=4 --ntasks=4 --ntasks-per-node=1 --cpus-per-task=96 --kill-on-bad-exit=0 --wait=0 /opt/py/bin/python3 -m skyrl_train job check /w/jobs/1_launch
#   srun --export=ALL --nodes=4 --ntasks=4 --ntasks-per-node=1 --cpus-per-task=96 --kill-on-bad-exit=1 /opt/py/bin/python3 -m skyrl_train job node /w/jobs/1_launch
exec /opt/py/bin/python3 -m skyrl_train job trainer /w/jobs/1_launch
