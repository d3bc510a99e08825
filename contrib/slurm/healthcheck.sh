#!/bin/sh
# HealthCheckProgram for slurm.conf, with HealthCheckNodeState=IDLE: prints the last result at once and checks again in the
# background, one check at a time. A node is drained after two checks in a row found the same fault, and resumed when a
# check finds none, but only if its reason is the one that this script wrote. A check without a result changes nothing.
# A node that an admin drained, or whose reason an admin changed, is left alone.
trap 'exit 0' EXIT
here=${0%/*}
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$here/common.sh"
MARK="skyrl-doctor:"
node=${SLURMD_NODENAME:-$(hostname -s)}
state=$STATE_DIR/$node

if [ "${1-}" != look ]; then
  setsid "$0" look </dev/null >/dev/null 2>&1 &
  [ ! -r "$state/last" ] || cat "$state/last"
  exit 0
fi
cd / || exit 0 # not in a directory that a user chose

# Sets $is and $note to Slurm's state and reason of the node.
ask() {
  limited "$SCONTROL_LIMIT_S" scontrol --oneliner show node "$node" >"$state/node" 2>/dev/null || return 1
  is=$(sed -n 's/.* State=\([^ ]*\).*/\1/p' "$state/node")
  note=$(sed -n 's/.* Reason=\(.*\)$/\1/p' "$state/node")
}

drain() {
  ask || return
  case $is in *DRAIN* | *DOWN* | *FAIL* | *MAINT* | '') return ;; esac
  limited "$SCONTROL_LIMIT_S" scontrol update "NodeName=$node" State=DRAIN "Reason=$MARK $found" || return
  printf '%s\n' "$ids" >"$state/drained.ids"
  ask && printf '%s\n' "$note" >"$state/drained" # as Slurm prints it, with the time, so that it is unique
  noted health.log "node=$node drained: $found"
}

# The checks that found the fault must all pass now: none skipped (no GPU), none unknown.
CLEAN='^skyrl-doctor: pass \([0-9]+ (passed|warnings?|infos?)(, [0-9]+ (warnings?|infos?))*\)$'
undrain() {
  [ -s "$state/drained" ] || return
  look "$(cat "$state/drained.ids")" && grep -Eq "$CLEAN" "$state/report" && ask || return
  case $is in
    *DRAIN*)
      case $note in "$MARK"*) [ "$note" = "$(cat "$state/drained")" ] ;; *) false ;; esac &&
        limited "$SCONTROL_LIMIT_S" scontrol update "NodeName=$node" State=UNDRAIN &&
        noted health.log "node=$node set free"
      ;;
  esac
  rm -f "$state/drained"
}

# look CHECKS: runs the checks; returns the doctor's exit status and sets $found to the findings.
look() {
  found=''
  limited "$HEALTH_LIMIT_S" "$DOCTOR" preflight --role gpu --select "$1" --fail-on "$HEALTH_FAIL_ON" --deadline 30 \
    --format github >"$state/report" 2>/dev/null
  set -- $?
  [ "$1" -ne 1 ] || # ::error title=GPU003 gpu-memory-taken::message%0Aremedy
    found=$(sed -n '/::unknown: /d; /^::notice/d; s/%0A.*//; s/^::[a-z]* [^:]*title=\([^:]*\)::\(.*\)/\1 \2/p' "$state/report")
  return "$1"
}

mkdir -p "$state" && exec 9>"$state/lock" && flock -n 9 || exit 0
look "$HEALTH_CHECKS"
status=$?
ids=$(printf '%s' "$found" | sed 's/ .*//' | paste -sd, -)
found=$(printf '%s' "$found" | tr '\n' ' ' | cut -c1-200)
case $status in
  0) undrain ;;
  1) [ -n "$ids" ] && [ "$ids" = "$(cat "$state/ids" 2>/dev/null)" ] && drain ;;
esac
printf '%s\n' "$ids" >"$state/ids"
printf '%s status=%s %s\n' "$(date +%Y-%m-%dT%H:%M:%S)" "$status" "$found" >"$state/last.new"
mv "$state/last.new" "$state/last"
