"""How other programs write an error: package managers, builds, Kubernetes, Go, servers. No failure of the catalogue is theirs."""

_TIME = r"\d\d:\d\d:\d\d[\d.,Z+:-]{0,14}"
NOT_A_NUMBER = r"\{'(?:loss|train_loss|eval_loss)': nan\b|\{'loss': 0(?:\.0)?, 'grad_norm': nan\b"
"""A loss that is no number in a line of figures. Such a run may reach its end, and its model is useless."""
REFUSED = "send_error: "
"""In a line of llama.cpp's server about a request that it did not answer."""
PROGRAM_ERRORS = (
    # package managers and scripts
    r"^npm (?:error|ERR!) \S|^error [A-Z]\w|^ ?ERR_PNPM_\w|^E: [A-Z]\w|^dpkg: error \S|\bUnhandledPromiseRejection\b",
    # compilers and builds
    r"^error\[E\d{4}\]: |: (?:fatal )?error [A-Z]{1,4}\d{3,5}: \S|^CMake Error(?: at|:| in)|^FAILED: \S|^ninja: build stopped: |^g?make(?:\[\d{1,3}\])?: \*\*\* |^-- Configuring incomplete, errors",
    r"^FAILURE: Build failed|^> Task \S{1,200} FAILED$|\bBUILD FAIL(?:URE|ED)\b|\bfailed to solve: |^\s{1,8}\d{1,6}:\d{1,5} {1,8}error {1,4}\S",
    r"^(?:PHP )?(?:Fatal|Parse) error: |\b[Rr]untime error: \S|^Error using \w|^lua[\d.]{0,4}: \S|\.rb:\d{1,6}:in .{1,200} \(\w{1,60}(?:Error|Exception)\)|^Can't (?:locate|open|find|exec|use) .{1,300} at \S{1,200} line \d|^BEGIN failed--",
    # Kubernetes: the table of pods, the events, the description of a pod
    r" \d{1,3}/\d{1,3} {1,18}  (?:Init:)?(?:Error|CrashLoopBackOff|CreateContainer(?:Config)?Error|ErrImagePull|ImagePullBackOff|RunContainerError|InvalidImageName|ContainerCannotRun|Evicted|UnexpectedAdmissionError|StartError)\b",
    r"^\s{0,8}Warning {1,12}(?:Failed\w{0,40}|BackOff|Evicted|OOMKilling|SystemOOM|NodeNotReady|InspectFailed|ErrImageNeverPull) |\bReason: {1,12}(?:Error|CrashLoopBackOff|ContainerCannotRun|StartError|Evicted)\b|\b[Bb]ack-off restarting failed container\b",
    r"^Error from server(?: \(\w{1,40}\))?: |^The connection to the server \S{1,200} was refused\b",
    r"^Environment(?:Name|Location)NotFound: ",
    # levels that only other loggers write
    rf"^\W{{0,3}}(?:\d{{4}}[-/]\d\d[-/]\d\d[T ,_])?{_TIME}[\s|,-]{{1,6}}\[?(?:[Ee]rror|[Ff]atal|critical|crit|emerg|alert|panic)\b(?:[\]:\s,|]|$)",
    r"\[\w{1,30}:(?:error|crit|alert|emerg)\] |\b(?:level|lvl)=(?:err|eror|crit|critical|alert|emerg|panic|dpanic)\b|\blvl=(?:error|fatal)\b|\"level\": ?[56]0,|\"s\": ?\"[EF]\", ?\"c\":",
    r"^\d{1,7}:[MSCX] .{16,40} # .{0,200}(?:\b[Ff]atal\b|\bFailed\b|\bCan't\b|\b[Aa]borting\b|\b[Ee]xiting\b)|^\(error\) \S|^\{.{0,400}\"error\": ?\"\w",
    # Go's own logger, and the system's answer at the end of a line
    r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d (?:\S{1,60}\.go:\d{1,5}: )?(?:[Ff]ailed|[Ee]rror|[Ff]atal|[Cc]annot|[Cc]ould not|[Uu]nable|panic)\b",
    r": (?:no such file or directory|permission denied|address already in use|no such host|no route to host|i/o timeout|context deadline exceeded|(?:connect: )?connection refused)\s*$",
    # programs of a shell script, services, clusters
    r"^(?:ssh|scp|sftp|curl|wget|tar|rsync|unzip|gzip|mount|sudo)(?: error)?: (?:\(\d{1,3}\) |connect to |[Uu]nable |[Cc]an(?:no|')t |[Cc]ould ?n[o']t |[Ff]ailed |Exiting with failure|some files)",
    r"\bsystemd\[\d{1,8}\]: (?:Failed to start |\S{1,100}: Failed with result )|^(?:failed|fatal): \[\S{1,100}\]|\bMPI_ABORT was invoked on rank\b|^[^\w\s]{1,4} Error: \S",
    # the dynamic linker, Go's list of errors, llama.cpp
    r": version .{1,40} not found \(required by |^\d{1,6} errors? occurred:\s*$|^srv {1,8}\S.{0,60}: got exception: .{0,20}\"code\":5\d\d|^srv {1,8}send_error: \S",
    # the registers that a program in Go prints when it crashes
    r"\brflags {1,6}0x[0-9a-f]{1,8}\s*$",
    # the figures of transformers' Trainer
    NOT_A_NUMBER,
    # a shell without bash, the C library before it aborts, torch's C++ code, schedulers, messages of localised programs
    r"\b(?:sh|dash|ash): \d{1,5}: [^:\n]{1,200}: not found\s*$|^(?:malloc|free|realloc|calloc|munmap_chunk|malloc_consolidate|corrupted)\w*(?:\(\): | double-linked list| size vs\. prev_size)|\*\*\* (?:stack smashing detected|buffer overflow detected|Error in [`'])",
    r"\[[EF] [\w./-]{1,80}(?:\.cpp:|\.cc:|\.cu:|\.hpp:)\d{1,5}\] ",
    r"\bjob \S{1,80} exceeded (?:hard|soft) (?:wallclock|cpu) time\b|\bAbnormal termination \(signal \d|\bJob (?:\S{1,80} )?was evicted\b|^flux-job: task\(s\) exited with exit code [1-9]|^Exited with exit code [1-9]\d{0,2}\.\s*$",
    r"^(?:[\w./-]{1,60}: )?(?:Fehler: |Erreur: |Erreur : |错误: |错误：|錯誤：|エラー: |エラー：|Ошибка: |Errore: )(?!0\b)",
)
"""Patterns of the engine; `errors.weigh` judges the line."""
