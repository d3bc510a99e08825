#!/bin/bash
# On each of the 4 nodes of the trainer job in /w/jobs/1_launch: the node's own settings, then the command given.
set -euo pipefail
cd /w
export SKYRL_JOB_DIR=/w/jobs/1_launch SKYRL_JOB_NODE="$SLURMD_NODENAME"
# What this node needs, by the rules that the doctor explains: devices, caches, sockets, Podman's own store.
settings=$(/opt/py/bin/python3 -m skyrl_doctor env /w/jobs/1_launch/config.toml --role gpu --shell) || {
  echo "the node's settings could not be worked out" >&2
  exit 78
}
eval "$settings"
exec "$@"
