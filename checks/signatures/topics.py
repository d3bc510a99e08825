"""What an error that no signature knows is about: a thing and its trouble, in words that nobody has written yet.

Asked only of the line that would be shown as unknown, when the log is read: such wide patterns would find too much in
the lines of a run, and cost time there.
"""

from checks.signatures.short import root

LACK = r"(?:missing|absent|not (?:found|there|present|set|given|configured|installed|available|readable)|unset|empty|gone|does not exist|doesn't exist)"
WRONG = r"(?:wrong|invalid|rejected|refused|denied|not accepted|mismatch\w*|do(?:es)? not match|expired)"
BROKEN = r"(?:corrupt\w*|damaged|broken|inconsistent|half[- ]written|truncated|stale|not writable|unwritable)"
NETWORK = r"(?:NFS|nfs|Lustre|lustre|GPFS|BeeGFS|network file ?system|shared file ?system)"
FULL = r"(?:exhausted|full|used up|insufficient|exceeded|too small|overcommitted)"
NOT_ENOUGH = r"(?:not enough|insufficient|no more|ran out of|run out of|out of|too little|no)"
FEW = r"(?:only|just|but) \d+"

TOPICS = {
    "GPU001": root(
        r"(?i)\bMIG\b.{0,80}(?:unsupported|not supported|cannot|can't|invalid|unknown|not found|not an? (?:int|number))|(?:invalid|unknown|cannot parse|unparsable).{0,60}\bMIG-",
        "ValueError: cannot parse device id MIG-8a5c0f1e",
        "a MIG slice was given where this program takes a number or a whole GPU",
        "any",
    ),
    "GPU002": root(
        r"(?i)\bno (?:usable |visible |cuda |nvidia )*gpus?\b.{0,40}(?:found|available|visible|detected)|\bcuda (?:is )?(?:not available|unavailable)|cuda driver initiali[sz]ation failed|gpu is needed",
        "RuntimeError: CUDA driver initialization failed, you might not have a CUDA gpu.",
        "this process sees no GPU: none was given to it, or the variable names none that is there",
        "any",
    ),
    "GPU003": root(
        r"(?i)\bGPU\b.{0,60}(?:used|occupied|held|taken) by (?:an)?other|other processes? (?:hold|use|occup)\w* .{0,40}GPU memory|memory capacity is unbalanced",
        "RuntimeError: GPU 0 is used by another process (pid 812)",
        "another process holds memory of the same GPU",
        "any",
    ),
    "GPU004": root(
        rf"(?i){FEW} GPUs?\b.{{0,80}}(?:need|requir|request|want|ask)|(?:need|requir|request|want|ask)\w* .{{0,20}}\d+ GPUs?\b.{{0,80}}{FEW}|\bray\b.{{0,60}}{NOT_ENOUGH} GPUs",
        "RuntimeError: only 4 GPUs in the Ray cluster, but 8 are needed",
        "Ray has fewer GPUs than the run wants: a node did not join, or it is another's Ray",
        "any",
        unless="deployment settings",
    ),
    "ENV001": root(
        rf"(?i)\bpython (?:development |dev )?headers?\b.{{0,60}}{LACK}|\b(?:no|without a) (?:working )?C(?:\+\+)? compiler\b|\bC(?:\+\+)? compiler\b.{{0,40}}{LACK}",
        "RuntimeError: the Python headers are missing",
        "the compiler that builds kernels, or the headers of the worker's Python, are not there",
        "any",
    ),
    "ENV002": root(
        rf"(?i)\btriton\b.{{0,40}}\bcache\b.{{0,100}}(?:{NETWORK}|{BROKEN})",
        "RuntimeError: the Triton cache is corrupt",
        "Triton's cache lies where several users or nodes disturb each other",
        "any",
    ),
    "ENV004": root(
        r"(?i)\bCUDA\b.{0,60}\bfork(?:ed)?\b|\bfork(?:ed)?\b.{0,60}\bCUDA\b",
        "RuntimeError: CUDA was initialized before the fork",
        "vLLM's workers are forked from a process that has used CUDA; set VLLM_WORKER_MULTIPROC_METHOD=spawn",
        "any",
    ),
    "ENV005": root(
        rf"(?i)(?:\bW&B\b|\bwandb\b|weights and biases).{{0,100}}(?:\bno api[ _]key|api[ _]key.{{0,40}}(?:{LACK}|{WRONG})|not logged in|log ?in (?:failed|required)|unauthori[sz]ed)",
        "RuntimeError: W&B login failed: no API key found in the environment",
        "W&B has no key, or a wrong one, in the process that logs",
        "any",
    ),
    "ENV006": root(
        r"(?i)\bsocket\b.{0,200}\btoo long\b|\btoo long\b.{0,80}\bsocket\b",
        "OSError: path of the raylet's socket is too long (131 > 107)",
        "the directory for temporary files is too long a path for a socket",
        "any",
    ),
    "ENV007": root(
        rf"(?i)\b(?:host|system|node|cpu|main|physical) (?:memory|ram)\b.{{0,60}}{FULL}|\b(?:memory|ram) of the (?:host|node|job)\b.{{0,60}}{FULL}|\boom[- ]?killed\b(?!['\"]?[=:] ?false)|\bto free memory \(OOM\)|killed .{{0,60}}out of (?:host |system )?memory|\b{NOT_ENOUGH} (?:host|system|cpu) memory\b",
        "ERROR trainer: host memory exhausted: 503.1 of 503.5 GiB used, process was OOM-killed",
        "the job took more host memory than it was given",
        "any",
    ),
    "ENV008": root(
        r"(?i)\b(?:process|thread|task|pids?|nproc|open files?|file descriptors?)\b.{0,20}\blimit\b.{0,40}(?:reached|exceeded|hit|too low)|\b(?:could not|cannot|can't|unable to|failed to) (?:fork|spawn (?:a |another )?(?:new )?(?:process|thread)|start (?:a |another )?(?:new )?thread|create (?:a |another )?(?:new )?thread)\b",
        "RuntimeError: could not fork: process limit reached (ulimit -u 4096)",
        "no further process, thread or open file was allowed",
        "any",
    ),
    "ENV009": root(
        r"(?i)\b(?:another|other|existing|foreign|different|stale)\b.{0,20}\bray\b.{0,20}(?:instance|cluster|head|session).{0,60}(?:running|in use|found|exists|belongs|started)|\bray\b.{0,60}\bport \d+\b.{0,30}(?:in use|taken|used)",
        "RuntimeError: another Ray instance is already running on this node (port 6379 in use)",
        "the job met a Ray that is not its own: another job's or another user's on the same node",
        "any",
    ),
    "ENV010": root(
        rf"(?i)\b(?:compil\w+|inductor|flashinfer|aot|kernel) cache\b.{{0,100}}(?:{BROKEN}|{NETWORK}|permission)|{BROKEN} (?:compil\w+|cached?) (?:artifact|kernel|graph|file)",
        "RuntimeError: compile cache of vLLM is corrupt",
        "compile caches are shared between jobs, and one left half a file or took it away",
        "any",
    ),
    "ENV011": root(
        r"(?i)\b(?:compiled|built) (?:for|against|with) (?:a different|another|an incompatible|an older|a newer)\b|\bABI\b.{0,40}(?:mismatch|incompatib|differ)|\bbinary[- ]incompatib",
        "ImportError: the extension was built against another torch",
        "a compiled extension was built for another torch, CUDA or Python",
        "any",
    ),
    "SLM001": root(
        r"(?i)\b(?:wall[- ]?(?:clock)?[- ]?(?:time)?|job time|slurm time)[- ]limit\b|\b(?:hit|reached|exceeded|ran out of|over|used up) (?:its |the |their |your )?(?:wall[- ]?(?:clock|time)|slurm time|job time|time allocation)",
        "ERROR job 4711 hit its wall clock limit of 6:00:00 and was terminated",
        "the job's wall time was over",
        "any",
    ),
    "SLM004": root(
        r"(?i)\b(?:runtime|server|base|api)[ _-]?(?:url|address)\b.{0,80}(?:malformed|not a (?:valid )?url|garbage|log lines)",
        "ValueError: the runtime URL is not a valid URL: 'waiting for the runtime'",
        "the runtime's URL is not a URL: log lines went into it, or it is empty",
        "any",
    ),
    "POD001": root(
        r"(?i)\bpause process\b.{0,80}(?:dead|died|not running|gone|killed|stale|missing|no such)",
        "Error: the pause process is not running",
        "Podman's pause process was killed with an earlier job; its pid file stayed",
        "any",
    ),
    "POD002": root(
        rf"(?i)\b(?:graph ?root|run ?root|container stor(?:e|age)|overlay)\b.{{0,100}}\b(?:{NETWORK}|not writable|read-only)\b",
        "Error: graphroot lies on NFS",
        "Podman's store lies on a file system that cannot hold it",
        "any",
    ),
    "POD003": root(
        rf"(?i)\bsub[ug]ids?\b.{{0,80}}(?:{LACK}|no (?:entry|range)|too (?:few|small))|\bno (?:entry|range|ids?)\b.{{0,60}}\bsub[ug]id",
        "Error: no range for user u in /etc/subuid",
        "the user has no range of ids for rootless containers; the administrator gives one in /etc/subuid and /etc/subgid",
        "any",
    ),
    "POD005": root(
        rf"(?i)\b(?:podman|container|libpod)\b.{{0,40}}\b{NOT_ENOUGH} (?:free )?locks\b|\b{NOT_ENOUGH} (?:podman|container|libpod) locks\b",
        "Error: container cannot be made: out of locks",
        "Podman's locks are used up; `podman system renumber` frees what dead containers hold",
        "any",
    ),
    "POD006": root(
        rf"(?i)\b(?:container|image|layer|podman|overlay)\b.{{0,40}}\b(?:store|storage|database|layers?)\b.{{0,60}}{BROKEN}",
        "Error: container store is corrupted: layer 9f1 has no parent",
        "Podman's store is damaged; the job needs a store of its own",
        "any",
    ),
    "POD008": root(
        rf"(?i)\b(?:slirp4netns|pasta|netavark|aardvark(?:-dns)?|rootlesskit)\b.{{0,100}}(?:{LACK}|failed|cannot|crashed)",
        "Error: netavark is not installed",
        "a program that Podman's network needs is not there or cannot work",
        "any",
    ),
    "POD009": root(
        r"(?i)\b(?:podman|container|libpod)\b.{0,60}\bdatabase\b.{0,40}\block(?:ed)?\b",
        "Error: podman's database stayed locked for 60 s",
        "more containers were started at once than Podman's database takes; start fewer at a time",
        "any",
    ),
}
