#!/bin/bash
#SBATCH --job-name=skyrl-trainer-run
#SBATCH --comment=/w/jobs/1_launch
#SBATCH --output=/w/jobs/1_launch/training_%j.out
#SBATCH --error=/w/jobs/1_launch/training_%j.err
#SBATCH --open-mode=append
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=65536M
#SBATCH --gres=gpu:1
#SBATCH --time=6:00:00
#SBATCH --no-requeue
#SBATCH --signal=B:USR1@300
# The trainer job of the launch in /w/jobs/1_launch.
set -euo pipefail
trap "" USR1 # Slurm's warning before the time limit must not end the job before the handler is installed
cd /w
export SKYRL_JOB_DIR=/w/jobs/1_launch
# The command handles signals first and then applies the settings of the node from trainer_node.sh, so that what they
# make on the node is always removed.
exec /opt/py/bin/python3 -m skyrl_train job trainer /w/jobs/1_launch
