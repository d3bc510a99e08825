#!/bin/bash
# Sets the environment of a node of the runtime job (devices, caches, sockets, Podman's store), then runs the given command.
set -euo pipefail
cd /w
export SKYRL_JOB_DIR=/w/jobs/1_launch
settings=$(/opt/py/bin/python3 -m skyrl_doctor env /w/jobs/1_launch/config.toml --role runtime --shell)
eval "$settings"
exec "$@"
