# shellcheck shell=sh
# Shared by the scripts in this directory, which source it. Put your own settings into site.sh in the same directory.
# shellcheck disable=SC2034  # each script uses some of these
: "${PATH:=/usr/sbin:/usr/bin:/sbin:/bin}"
export PATH

DOCTOR=/opt/skyrl-doctor/bin/skyrl-doctor
TRAIN=/opt/skyrl-doctor/bin/skyrl-train
LOG_DIR=/var/log/skyrl-doctor
STATE_DIR=/var/lib/skyrl-doctor
SCRATCH=/tmp               # scratch directories of this node, separated by blanks
# The jobs that are ours without asking: names separated by blanks.
GPU_PARTITIONS=''          # jobs with a GPU in these partitions: the TaskProlog's settings, and the Prolog's checks
GPU_ACCOUNTS=''
RUNTIME_PARTITIONS=''      # every job in these partitions: the TaskProlog's settings for Podman
RUNTIME_ACCOUNTS=''
NODE_CHECKS=GPU002,GPU003,ENV008 # checks of the Prolog, about the node and not the request
HEALTH_CHECKS=GPU003       # checks that may drain an idle node
HEALTH_FAIL_ON=warning     # the lowest severity that drains
TASKPROLOG_LIMIT_S=15      # each well below Slurm's limits: PrologEpilogTimeout, and 60 s for HealthCheckProgram
PROLOG_LIMIT_S=20
EPILOG_LIMIT_S=45
HEALTH_LIMIT_S=45
SCONTROL_LIMIT_S=10

# shellcheck source=/dev/null
if [ -r "${here:?}/site.sh" ]; then . "$here/site.sh"; fi

# listed WORD LIST: whether a list, separated by blanks, has the word.
listed() {
  [ -n "$1" ] || return 1
  case " $2 " in *" $1 "*) ;; *) return 1 ;; esac
}

# named PARTITIONS ACCOUNTS: whether the site named this job's partition or account.
named() {
  listed "${SLURM_JOB_PARTITION-}" "$1" || listed "${SLURM_JOB_ACCOUNT-}" "$2"
}

# limited SECONDS COMMAND...: the command's exit status, or 124 after the time limit. Then the command and its session are
# killed. A process that cannot be killed, because it waits for a driver, is not waited for.
limited() {
  limited_began=$(date +%s)
  limited_until=$((limited_began + $1))
  limited_step=0.02 # short, since most commands are quick and each job waits for them
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

# noted FILE TEXT...: appends a line with the time to a log. Ignores a log that cannot be written.
noted() {
  noted_in=$LOG_DIR/$1
  shift
  { mkdir -p "$LOG_DIR" && printf '%s %s\n' "$(date +%Y-%m-%dT%H:%M:%S)" "$*" >>"$noted_in"; } 2>/dev/null || :
}

# printable: its input without control characters, since names of files and processes are chosen by users.
printable() {
  LC_ALL=C tr -d '\000-\010\013-\037\177'
}
