-- job_submit.lua for slurmctld (JobSubmitPlugins=lua): inserts the doctor's gate at the start of a batch script that
-- requests a GPU and trains by verl, SkyRL or prime-rl, or starts vLLM. If the devices of the job are unfit for them, the
-- job ends with exit status 78 and the reason in its log. If the doctor is missing, fails or gives no result, the job runs.
-- The job also asks the TaskProlog for the settings of a GPU node, unless it sets SKYRL_DOCTOR_ENV itself.
--
-- Unchanged: jobs of every other kind, scripts for programs other than a POSIX shell, scripts that set
-- CUDA_VISIBLE_DEVICES, and scripts that name the doctor. A comment such as `# skyrl-doctor: no` is enough. No submission
-- is refused.

local DOCTOR = "/opt/skyrl-doctor/bin/skyrl-doctor"
local PARTITIONS = nil -- e.g. { gpu = true, mig = true }; nil means all
local CHECKS = "GPU001,GPU002" -- what verl and vLLM cannot run with on any configuration
local SHELLS = { sh = true, bash = true, dash = true, ksh = true, zsh = true }
local MOST_BYTES = 1048576 -- slurmctld waits for this filter

-- The commands of these programs, searched in each line that is no comment. A blank stands before and after each line.
-- Not among them: what runs on a MIG slice by its UUID too, such as supervised training and conversion.
local PROGRAMS = {
  "[%s/\"']vllm%s+serve%s", "%s%-m%s*vllm%.entrypoints%.",
  "%s%-m%s*verl%.trainer%.main_ppo", "%s%-m%s*verl%.trainer%.main_generation", "[%s/]verl/trainer/main_ppo",
  "%s%-m%s*verl%.experimental%.%S*main", "%s%-m%s*recipe%.%S*%.main_",
  "%s%-m%s*skyrl_train%.entrypoints%.", -- SkyRL
  "%s%-m%s*prime_rl%.", "%srl%s+@", "%sinference%s+@", -- prime-rl
}

-- Within single quotes of the shell: no apostrophe here.
local REFUSED = "skyrl-doctor: the gate of this site (job_submit.lua) ended the job before its first command, because of the "
  .. "errors above. To run without the gate, add the line `# skyrl-doctor: no` to the script."
-- One list, so that it does not end a script under `set -e`. SKYRL_JOB_DIR may be that of the job that submitted this one.
local GATE = string.format(
  "[ ! -x %s ] || timeout -k 5 60 env -u SKYRL_JOB_DIR %s gate --role gpu --select %s --allow-unknown --deadline 20 -- true || "
    .. "[ \"$?\" -ne 78 ] || { echo '%s' >&2; exit 78; } # by job_submit.lua\n",
  DOCTOR, DOCTOR, CHECKS, REFUSED)

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

local function is_named_partition(job)
  if PARTITIONS == nil then return true end
  for name in (job.partition or job.default_partition or ""):gmatch("[^,]+") do
    if PARTITIONS[name] then return true end
  end
  return false
end

local function starts_a_known_program(script)
  for line in script:gmatch("[^\n]+") do
    if not line:match("^%s*#") and not line:match("^%s*echo%s") then
      line = " " .. line .. " "
      for _, pattern in ipairs(PROGRAMS) do
        if line:find(pattern) then return true end
      end
    end
  end
  return false
end

-- The script with the gate after its first line, or nil if it must stay unchanged.
local function gated(script)
  if #script > MOST_BYTES then return nil end
  local first, rest = script:match("^(#![^\n]*\n)(.*)$")
  if first == nil or not SHELLS[interpreter(first) or ""] then return nil end
  if script:find("skyrl%-doctor") or script:find("skyrl_doctor") then return nil end
  if script:find("CUDA_VISIBLE_DEVICES") then return nil end
  -- `\` at the end of a line joins it with the next one, as in `python -m \`.
  if not starts_a_known_program((rest:gsub("\\\n", " "))) then return nil end
  return first .. GATE .. rest
end

local function change(job)
  local script = job.script
  if type(script) ~= "string" or not wants_gpu(job) or not is_named_partition(job) then return end
  local new = gated(script)
  if new == nil then return end
  job.script = new
  local environment = job.environment
  if environment ~= nil and environment["SKYRL_DOCTOR_ENV"] == nil then environment["SKYRL_DOCTOR_ENV"] = "gpu" end
end

-- The functions of a filter that the site has already, if its file loads this one.
local site_submit, site_modify = slurm_job_submit, slurm_job_modify

function slurm_job_submit(job, parts, uid)
  if site_submit ~= nil then
    local answer = site_submit(job, parts, uid)
    local code = tonumber(answer) -- Slurm accepts the job where a filter returns no number
    if code ~= nil and code ~= slurm.SUCCESS then return answer end
  end
  local worked, problem = pcall(change, job) -- a fault of this file must refuse no job
  if not worked then slurm.log_info("skyrl-doctor: job_submit.lua: %s", tostring(problem)) end
  return slurm.SUCCESS
end

-- Slurm wants both functions. This one changes nothing.
slurm_job_modify = site_modify or function() return slurm.SUCCESS end

return slurm.SUCCESS
