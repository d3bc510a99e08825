#!/bin/bash
# What a node of the trainer job needs, by the rules that the doctor explains: devices, caches, sockets, Podman's own store.
# Then the command given.
set -euo pipefail
cd /w
export SKYRL_JOB_DIR=/w/jobs/1_launch
settings=$(/opt/py/bin/python3 -m skyrl_doctor env /w/jobs/1_launch/config.toml --role gpu --shell)
eval "$settings"
exec "$@"
