# shellcheck shell=sh
# What the scripts beside this file share. It is read into each; what a site wants otherwise stands in site.sh beside it.
# shellcheck disable=SC2034  # each script takes what it needs
: "${PATH:=/usr/sbin:/usr/bin:/sbin:/bin}"
export PATH

DOCTOR=/opt/skyrl-doctor/bin/skyrl-doctor
TRAIN=/opt/skyrl-doctor/bin/skyrl-train
LOG_DIR=/var/log/skyrl-doctor
STATE_DIR=/var/lib/skyrl-doctor
SCRATCH=/tmp               # directories of this node in which jobs may work, with blanks between
NODE_CHECKS=GPU,ENV008     # what Prolog looks at
HEALTH_CHECKS=GPU003       # what may drain an idle node
HEALTH_FAIL_ON=warning     # the least severity of theirs that does
TASKPROLOG_LIMIT_S=15      # each well below Slurm's own: PrologEpilogTimeout, and 60 s for HealthCheckProgram
PROLOG_LIMIT_S=20
EPILOG_LIMIT_S=45
HEALTH_LIMIT_S=45
SCONTROL_LIMIT_S=10

# shellcheck source=/dev/null
if [ -r "${here:?}/site.sh" ]; then . "$here/site.sh"; fi

# limited SECONDS COMMAND...: the command's exit status, or 124 when its time is over. It is killed with all of its
# session, and what cannot be killed, such as a process that waits for a driver, is not waited for.
limited() {
  limited_began=$(date +%s)
  limited_until=$((limited_began + $1))
  limited_step=0.02 # most are quick, and each job waits for this
  shift
  setsid "$@" </dev/null &
  limited_pid=$!
  while kill -0 "$limited_pid" 2>/dev/null; do
    limited_now=$(date +%s)
    if [ "$limited_now" -ge "$limited_until" ]; then
      kill -s TERM -- "-$limited_pid" 2>/dev/null
      sleep 1
      kill -s KILL -- "-$limited_pid" 2>/dev/null
      return 124
    fi
    sleep "$limited_step"
    [ "$limited_now" -le "$limited_began" ] || limited_step=0.2
  done
  wait "$limited_pid"
}

# noted FILE TEXT...: a line of a log, with the time. A log that cannot be written stops nothing.
noted() {
  noted_in=$LOG_DIR/$1
  shift
  { mkdir -p "$LOG_DIR" && printf '%s %s\n' "$(date +%Y-%m-%dT%H:%M:%S)" "$*" >>"$noted_in"; } 2>/dev/null || :
}
