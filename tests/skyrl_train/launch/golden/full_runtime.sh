#!/bin/bash
#SBATCH --job-name=skyrl-runtime-third-try-A-
#SBATCH --comment=/w/jobs/1_launch
#SBATCH --output=/w/jobs/1_launch/runtime_%j.out
#SBATCH --error=/w/jobs/1_launch/runtime_%j.err
#SBATCH --open-mode=append
#SBATCH --partition=cpu
#SBATCH --account=lab
#SBATCH --qos=high
#SBATCH --exclude=n1,n2
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=32
#SBATCH --mem=65536M
#SBATCH --time=6:00:00
#SBATCH --no-requeue
#SBATCH --constraint=a100&nvlink
#SBATCH "--comment=two words"
# The runtime job of the launch in /w/jobs/1_launch.
set -euo pipefail
trap "" USR1 # Slurm's warning before the time limit must not end the job before the handler is installed
cd /w
export SKYRL_JOB_DIR=/w/jobs/1_launch
# The command handles signals first and then applies the settings of the node from runtime_node.sh, so that what they
# make on the node is always removed.
exec /opt/py/bin/python3 -m skyrl_train job runtime /w/jobs/1_launch
