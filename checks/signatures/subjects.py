"""As `topics`, of images, sandboxes, agents, models, training and checkpoints."""

from checks.signatures.short import root
from checks.signatures.topics import LACK, NOT_ENOUGH, WRONG

_TAKEN = r"(?:exhausted|used up|full|all taken|all busy|in use|busy|taken|occupied)"
_SANDBOX = r"(?:sandbox|runtime|container|agent[- _]server)"
_OTHER_CAUSES = r"(?i:UIDs or GIDs|lchown|no space|lsetxattr|permission denied|storing blob|writing blob|overlay)"

TOPICS = {
    "IMG001": root(
        rf"(?i)\bagent[- _]server\b(?: binary| executable| program)?\b.{{0,60}}\b{LACK}|\bno agent[- _]server\b",
        "ERROR image x/y:z has no agent server",
        "the image has no agent server where the runtime starts it; mount sandboxd or build a derived image",
        "any",
        unless="Invalid|versions?",
    ),
    "IMG006": root(
        rf"(?i)\br2e_tests\b.{{0,80}}\b{LACK}|\b(?:no|missing|without) r2e_tests\b",
        "ERROR image x/y:z: r2e_tests is missing",
        "the image keeps its tests elsewhere; a sample without tests must be masked, not scored 0",
        "any",
    ),
    "IMG007": root(
        r"(?i)\b(?:cannot|can't|could not|unable to|may not) write (?:to |in |into )?[^\n]{0,20}/(?:testbed|r2e_tests)\b|\bsandbox user\b.{0,80}(?:cannot|may not|no permission|not allowed)",
        "ERROR sandbox user 10001 cannot write to /testbed",
        "the sandbox runs as a user who may not write there; run it as root inside rootless Podman",
        "any",
    ),
    "IMG008": root(
        r"(?i)\bglibc\b.{0,80}(?:too old|older|newer|mismatch|required)|\b(?:requires|needs) (?:a newer )?glibc\b",
        "ERROR the image's glibc 2.31 is older than the agent server needs",
        "the agent server was built for another C library than the image has",
        "any",
    ),
    "IMG009": root(
        r"(?i)\b(?:could not|cannot|can't|failed to|unable to|error) (?:pull|pulling|fetch|fetching|download|downloading) (?:of )?(?:the |a )?(?:container |docker |sandbox |base )?image\b|\bimage pull (?:failed|error)|\bpull rate[- ]limit\b|\bregistry\b.{0,80}(?:unreachable|not reachable|refused|timed out|rate[- ]limit)",
        "ERROR could not pull image docker.io/x/y:z: 404 Not Found",
        "the registry did not give the image: it is not there, not open, not reachable, or too many were asked for",
        "any",
        unless=_OTHER_CAUSES,
    ),
    "RUN001": root(
        rf"(?i)\b{_SANDBOX}\b.{{0,60}}(?:rejected|refused|denied|did not accept|does not accept).{{0,40}}\bkey\b|\b(?:runtime|session|sandbox)(?:'s)? (?:api )?key\b.{{0,40}}{WRONG}",
        "PermissionError: runtime rejected the API key (HTTP 401)",
        "client and runtime do not have the same key; both must read the job's key file",
        "any",
    ),
    "RUN002": root(
        rf"(?i)\b(?:runtime|sandbox)[ _-](?:api[ _-])?(?:url|key)\b.{{0,40}}\b{LACK}|\b(?:no|missing) (?:runtime|sandbox)[ _-](?:api[ _-])?(?:url|key)\b",
        "RuntimeError: the runtime URL is not set in this worker",
        "a variable of the runtime did not reach Ray's workers; it must be in the runtime environment that Ray is started with",
        "any",
    ),
    "RUN003": root(
        rf"(?i)\b{_SANDBOX}\b.{{0,80}}\bnot (?:yet )?(?:ready|healthy|up|started) (?:after|within|in) \d|\b{_SANDBOX}\b.{{0,80}}\b(?:timed out|gave up|took too long)\b.{{0,60}}(?:ready|start|build|pull)|\b(?:timed out|gave up)\b.{{0,40}}\b{_SANDBOX}\b.{{0,40}}(?:ready|start|come up)",
        "TimeoutError: sandbox sb-12 not ready after 600s (image still building)",
        "the runtime was given less time than its first image takes; raise the limit or prepare the images",
        "any",
        unless=r"(?i:\bcommands?\b|\btests?\b|\btool\b|evaluat)",
    ),
    "RUN005": root(
        rf"(?i)\b(?:sandbox|runtime|worker|slot)s?\b.{{0,20}}\b(?:pool|slots?|capacity)\b.{{0,30}}{_TAKEN}|\b{NOT_ENOUGH} (?:free |more |available )?(?:sandbox|runtime|worker)(?: slot|e)?s\b|\btoo many (?:running |open |concurrent )?(?:sandboxes|runtimes)\b",
        "RuntimeError: sandbox pool exhausted: 7 of 7 slots in use",
        "more sandboxes were asked for at once than the runtime has slots",
        "any",
    ),
    "RUN009": root(
        r"(?i)\b(?:client|sdk|agent[- _]server|server)\b.{0,40}\bversions?\b.{0,60}(?:mismatch|differ|incompatib|do(?:es)? not match)",
        "RuntimeError: client and agent server versions differ: 1.58.2 and 1.8.2",
        "client and agent server are of different versions; use one version",
        "any",
        unless="(?i:ray|python|torch|cuda|nccl|driver)",
    ),
    "AGT008": root(
        r"(?i)\b(?:not|un)[- ]?(?:picklable|pickleable)\b|\bcannot be (?:pickled|deep-?copied)\b",
        "TypeError: the conversation is not picklable",
        "a live object was sent between processes or copied; results must be plain records",
        "any",
    ),
    "CFG001": root(
        r"(?i)\b(?:prompt|input|request|context|conversation|messages?)\b.{0,60}\b\d{3,7} tokens\b.{0,80}\b(?:max_model_len|context (?:length|window|size|limit)|maximum (?:length|context|is))",
        "ValueError: prompt has 9001 tokens, but max_model_len is 8192",
        "the request asked for more tokens than the model's context has left",
        "any",
        unless="(?i:truncat|skipp|dropp|filter)",
    ),
    "CFG002": root(
        r"(?i)batch\w{0,16}\b.{0,60}\b(?:is no|is not a|isn't a|must be a|not a|no) multiple of\b|batch\w{0,16}\b.{0,60}\b(?:does not|doesn't|cannot be) (?:divide|split|divided)\w*\b",
        "ValueError: train_batch_size=10 is no multiple of the 4 data-parallel ranks",
        "the batch does not divide over the workers",
        "any",
    ),
    "CFG006": root(
        rf"(?i)\btool[- _](?:call[- _])?parser\b.{{0,60}}(?:{LACK}|unknown|unsupported|required)|\bno tool[- _](?:call[- _])?parser\b",
        "RuntimeError: no tool call parser was given",
        "the server was started without a parser for tool calls, or with an unknown one",
        "any",
    ),
    "MEM005": root(
        rf"(?i)\bkv[- ]?cache\b.{{0,60}}(?:does not fit|too small|cannot hold)|\b{NOT_ENOUGH} (?:room|memory|space|blocks)\b.{{0,40}}\bkv[- ]?cache\b",
        "RuntimeError: no room for the KV cache",
        "vLLM's share leaves no room for the KV cache of one request",
        "any",
    ),
    "MEM001": root(
        rf"(?i)\b(?:gpu|cuda|device|video|vram|hbm)[- ]?(?:memory)?\b.{{0,12}}\b(?:exhausted|is full|insufficient|overflow)|\b{NOT_ENOUGH} (?:gpu|cuda|device|video|hbm) memory\b|\b{NOT_ENOUGH} vram\b",
        "RuntimeError: GPU memory exhausted while allocating optimizer state (needed 4.1 GiB, 1.0 GiB free)",
        "the GPU's memory does not hold the model and its training state; take a smaller model, LoRA or more memory",
        "any",
    ),
    "MOD003": root(
        rf"(?i)\b(?:model|tokenizer|weights?)\b.{{0,20}}\b(?:directory|path|dir|folder|files?)\b.{{0,4}}\S{{0,300}}.{{0,12}}\b{LACK}|\b(?:no|missing) (?:model|tokenizer) (?:files?|weights|directory)\b",
        "FileNotFoundError: model directory /models/qwen does not exist",
        "the model's directory is not whole, or not where it was said to be",
        "any",
        unless="global_step_|(?i:checkpoint|resum)",
    ),
    "MOD004": root(
        r"(?i)\b(?:model type|architecture)\b.{0,80}(?:not supported|unsupported|unknown|not recogni[sz]ed|not registered)|\b(?:unknown|unsupported|unrecogni[sz]ed) (?:model type|model architecture|architecture)\b",
        "ValueError: model type 'qwen9' is not supported by this version",
        "the installed library is older than the model",
        "any",
        unless="(?i:gpu|cuda|sm_\\d|compute capability)",
    ),
    "TRN001": root(
        r"(?i)\b(?:train\w* |rollout |whole )?batch (?:is |was )?empty\b|\bempty (?:train\w* |rollout )?batch\b|\bno (?:usable |valid |trainable )?(?:samples?|trajector\w+|rollouts?) (?:left|remain\w*|survived)|\ball (?:\w+ )?(?:samples|trajectories|rollouts|tokens) (?:are|were) masked\b",
        "ValueError: training batch is empty after filtering",
        "no sample of the batch was left to train on; skip the step, and look for why the rollouts failed",
        "any",
    ),
    "CKP001": root(
        r"(?i)\b(?:cannot|can't|could not|unable to|failed to) (?:resume|restore|continue) (?:training )?(?:from\b|the (?:run|checkpoint))|\bno checkpoint to (?:resume|restore|continue)\b",
        "ValueError: cannot resume from /ckpt/run/global_step_40: directory is empty",
        "the run did not find the checkpoint that it was to go on from",
        "any",
        unless="(?i:world.?size|ranks?\\b|shape|size mismatch|memory|no space|agent state|session)",
    ),
    "CKP002": root(
        r"(?i)\b(?:checkpoint|optimizer state)\b.{0,100}\b(?:world.?size|number of (?:gpus|ranks|processes)|(?:gpus|ranks)\b)|\bworld.?size\b.{0,100}\bcheckpoint\b",
        "ValueError: the checkpoint was made by 4 ranks and this run has 2",
        "the checkpoint was written by another number of GPUs",
        "any",
        unless="(?i:memory)",
    ),
    "CKP003": root(
        r"(?i)\b(?:disk|file ?system|volume|device|scratch|partition)\b.{0,12}\b(?:is )?full\b|\b(?:out of|no|insufficient|not enough) (?:free |more )?disk space\b|\bnot enough (?:free )?space (?:left )?(?:on|in) /|\bquota\b.{0,20}\bexceeded\b",
        "RuntimeError: could not save checkpoint: disk full (/scratch, 0 bytes free)",
        "the disk is full; keep fewer checkpoints or write them elsewhere",
        "any",
        unless="(?i:tokens|requests|rate|billing|api|plan\\b|inotify|shm)",
    ),
}
