#!/bin/sh
# HealthCheckProgram for slurm.conf, with HealthCheckNodeState=IDLE: says at once what the last look saw, and looks again
# in the background, one look at a time. A node is drained when two looks in a row found the same error, and set free when
# a look finds none; but only with this script's own note on it. What could not be looked at changes nothing, and a node
# that anybody else has drained, or whose note he has changed, is his.
trap 'exit 0' EXIT
here=$(dirname "$0")
. "$here/common.sh"
MARK="skyrl-doctor:"
node=${SLURMD_NODENAME:-$(hostname -s)}
state=$STATE_DIR/$node

if [ "${1-}" != look ]; then
  setsid "$0" look </dev/null >/dev/null 2>&1 &
  [ ! -r "$state/last" ] || cat "$state/last"
  exit 0
fi

# What Slurm has about the node now: $is and $note.
ask() {
  limited "$SCONTROL_LIMIT_S" scontrol --oneliner show node "$node" >"$state/node" 2>/dev/null || return 1
  is=$(sed -n 's/.* State=\([^ ]*\).*/\1/p' "$state/node")
  note=$(sed -n 's/.* Reason=\(.*\)$/\1/p' "$state/node")
}

drain() {
  ask || return
  case $is in *DRAIN* | *DOWN* | *FAIL* | *MAINT* | '') return ;; esac
  limited "$SCONTROL_LIMIT_S" scontrol update "NodeName=$node" State=DRAIN "Reason=$MARK $found" || return
  ask && printf '%s\n' "$note" >"$state/drained" # as Slurm tells it, with the time: nobody else's note is the same
  noted health.log "node=$node drained: $found"
}

undrain() {
  [ -s "$state/drained" ] && ask || return
  case $is in
    *DRAIN*)
      case $note in "$MARK"*) [ "$note" = "$(cat "$state/drained")" ] ;; *) false ;; esac &&
        limited "$SCONTROL_LIMIT_S" scontrol update "NodeName=$node" State=UNDRAIN &&
        noted health.log "node=$node set free"
      ;;
  esac
  rm -f "$state/drained"
}

mkdir -p "$state" && exec 9>"$state/lock" && flock -n 9 || exit 0
limited "$HEALTH_LIMIT_S" "$DOCTOR" preflight --role gpu --select "$HEALTH_CHECKS" --deadline 30 \
  --format github >"$state/report" 2>/dev/null
status=$?
found=
if [ "$status" -eq 1 ]; then
  found=$(sed -n 's/^::error [^:]*title=\([^:]*\)::\(.*\)/\1 \2/p' "$state/report" | tr '\n' ' ' | cut -c1-200)
fi
ids=$(sed -n 's/^::error [^:]*title=\([A-Z0-9]*\).*/\1/p' "$state/report" | tr '\n' ' ')
case $status in
  0) undrain ;;
  1) [ -n "$ids" ] && [ "$ids" = "$(cat "$state/ids" 2>/dev/null)" ] && drain ;;
esac
[ "$status" -gt 1 ] || printf '%s\n' "$ids" >"$state/ids"
printf '%s status=%s %s\n' "$(date +%Y-%m-%dT%H:%M:%S)" "$status" "$found" >"$state/last.new"
mv "$state/last.new" "$state/last"
