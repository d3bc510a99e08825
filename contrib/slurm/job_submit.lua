-- job_submit.lua for slurmctld (JobSubmitPlugins=lua): puts the doctor's gate into the first line of a batch script that
-- asks for a GPU. The job then ends with exit status 78, and its reason in its log, where the node or its settings will
-- not carry a run. A doctor that is missing, fails or cannot look stops no job.
--
-- Left alone: scripts that no POSIX shell runs, and those that name the doctor themselves; a comment such as
-- `# skyrl-doctor: no` is enough.

local DOCTOR = "/opt/skyrl-doctor/bin/skyrl-doctor"
local PARTITIONS = nil -- e.g. { gpu = true, mig = true }; nil is all
local SHELLS = { sh = true, bash = true, dash = true, ksh = true, zsh = true }

local GATE = string.format(
  "[ ! -x %s ] || timeout -k 5 60 %s gate --role gpu --select GPU --allow-unknown --deadline 20 -- true || "
    .. '[ "$?" -ne 78 ] || exit 78 # by job_submit.lua\n', -- one list: nothing in it ends a script under `set -e`
  DOCTOR, DOCTOR)

-- The name of the program in a script's first line: `#!/usr/bin/env -S bash -l` is bash's.
local function interpreter(first)
  local words = {}
  for word in (first:match("^#!%s*(.*)") or ""):gmatch("%S+") do
    if not word:match("^%-") then words[#words + 1] = word:match("[^/]+$") end
  end
  return words[1] == "env" and words[2] or words[1]
end

local function wants_gpu(job)
  for _, field in ipairs({ "gres", "tres_per_node", "tres_per_job", "tres_per_task", "tres_per_socket" }) do
    local said = job[field]
    if type(said) == "string" and (said == "gpu" or said:find("gpu[:=]") or said:find("gpu$")) then return true end
  end
  return false
end

local function wanted_here(job)
  if PARTITIONS == nil then return true end
  for name in (job.partition or job.default_partition or ""):gmatch("[^,]+") do
    if PARTITIONS[name] then return true end
  end
  return false
end

-- The script with the gate after its first line; nil where it is to stay as it is.
local function gated(script)
  local first, rest = script:match("^(#![^\n]*\n)(.*)$")
  if first == nil or not SHELLS[interpreter(first) or ""] then return nil end
  if script:find("skyrl%-doctor") or script:find("skyrl_doctor") then return nil end
  return first .. GATE .. rest
end

function slurm_job_submit(job, _parts, _uid)
  local script = job.script
  if type(script) == "string" and wants_gpu(job) and wanted_here(job) then
    local new = gated(script)
    if new ~= nil then job.script = new end
  end
  return slurm.SUCCESS
end

function slurm_job_modify(_job, _record, _parts, _uid)
  return slurm.SUCCESS
end

return slurm.SUCCESS
