-- job_submit.lua for slurmctld (JobSubmitPlugins=lua): inserts the doctor's gate at the start of a batch script that
-- requests a GPU. If the node or its settings are unfit, the job ends with exit status 78 and the reason in its log. If the
-- doctor is missing, fails or gives no result, the job runs.
--
-- Unchanged: scripts for programs other than a POSIX shell, and scripts that name the doctor. A comment such as
-- `# skyrl-doctor: no` is enough.

local DOCTOR = "/opt/skyrl-doctor/bin/skyrl-doctor"
local PARTITIONS = nil -- e.g. { gpu = true, mig = true }; nil means all
local SHELLS = { sh = true, bash = true, dash = true, ksh = true, zsh = true }

local GATE = string.format(
  "[ ! -x %s ] || timeout -k 5 60 %s gate --role gpu --select GPU --allow-unknown --deadline 20 -- true || "
    .. '[ "$?" -ne 78 ] || exit 78 # by job_submit.lua\n', -- one list, so that it does not end a script under `set -e`
  DOCTOR, DOCTOR)

-- The interpreter in a script's first line: bash for `#!/usr/bin/env -S bash -l`.
local function interpreter(first)
  local words = {}
  for word in (first:match("^#!%s*(.*)") or ""):gmatch("%S+") do
    if not word:match("^%-") then words[#words + 1] = word:match("[^/]+$") end
  end
  return words[1] == "env" and words[2] or words[1]
end

local function wants_gpu(job)
  for _, field in ipairs({ "gres", "tres_per_node", "tres_per_job", "tres_per_task", "tres_per_socket" }) do
    local value = job[field]
    if type(value) == "string" and (value == "gpu" or value:find("gpu[:=]") or value:find("gpu$")) then return true end
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

-- The script with the gate after its first line, or nil if it must stay unchanged.
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
