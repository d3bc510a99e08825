"""How launchers, containers and remote shells report an error in a plain sentence, without the word error.

Open MPI and PRRTE print a help text between two rules; other programs print a line of their own. Warnings after which they
go on have `WARNING:` before them, and no pattern here.
"""

_LAUNCHER = r"(?:mpirun|mpiexec|orterun|prterun|prun|oshrun)(?: \(\S{1,80}\))?"
LAUNCHER_ERRORS = (
    # Open MPI and PRRTE: slots, hosts, mapping and binding
    r"\bnot enough (?:slots available|node entries)\b|^Some of the requested hosts are not included\b|^There are no (?:allocated resources|available nodes)\b|^No nodes are available for this job\b|^All nodes which are allocated for this job\b",
    r"^Your job (?:has requested (?:more|a conflicting)|failed to map)\b|^The (?:specified|provided|requested) \w{1,20} (?:policy|directive|modifier) is not (?:recognized|supported|valid)|^Conflicting directives for |^A request (?:was made to bind (?!a process\b)|for multiple cpus-per-proc was given)|^While computing bindings\b",
    r"^No bindable objects\b|^Although we were able to map your job\b|^An insufficient number of CPUs was found|^No available launching agents\b|^A daemon (?:\(pid \d{1,9}\) )?died unexpectedly\b|^The user-provided time limit for job execution\b|^The specified hostfile contained a node\b",
    # the launcher, its daemons, and the start of MPI
    rf"^{_LAUNCHER} (?:was unable|could not find|has exited due to|noticed that|has detected an attempt to run as root|detected that one or more processes exited)\b|^Primary job {{1,2}}terminated normally, but \d",
    r"^(?:ORTE|PRTE|PRRTE|PMIx) (?:was unable to|has lost communication|does not know how)\b|^An (?:ORTE|PRTE|PRRTE) daemon has unexpectedly failed\b|^Open MPI tried to fork a new process\b|^The application appears to have been direct launched\b|_ERROR_LOG: ",
    r"^It looks like \w{1,30} failed for some reason\b|\bAn error occurred in MPI_\w|\bMPI_ERRORS_ARE_FATAL\b|^Abort\(-?\d{1,12}\) on node \d|\bFatal error in P?MPI_\w|\bBAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\b",
    r"^\[(?:mpiexec|proxy:[\w:]{1,20})@[^\]\n]{1,80}\] \w{1,80} \([^)\n]{1,120}\): |^No components were able to be opened\b|^At least one pair of MPI processes are unable to reach\b",
    # remote shells
    r"^(?:\S{1,100}: )?(?:Host key verification failed\.|Permission denied \([a-z,-]{5,80}\)\.?|kex_exchange_identification: )|^Connection (?:closed|reset) by \S{1,80} port 22\b|\bssh exited with exit code [1-9]",
    # containers
    r"\bOCI runtime (?:exec |create |start |run )?(?:failed|error|attempted)\b|\bcontainer_linux\.go:\d|\bunable to start container process\b|\bCannot connect to the Docker daemon\b|permission denied while trying to connect to the Docker\b",
    r"\bnvidia-container-cli: (?:\w{1,30} ){1,3}error: |\bnvidia-container-cli: (?:device|mount|container|detection|initialization|ldcache|requirement) |^error mounting \"|^no matching manifest for |^unknown (?:shorthand )?flag: ",
    # package managers and clouds
    r"^\s{0,6}[^ -~\t]{1,4} (?:Failed|No solution|Request failed|Unable|Could not|Querying|Distribution|Broken|Invalid)\b|^An error occurred \(\w{1,60}\) when calling the \w|^(?:upload|download|copy|move) failed: \S|^Error downloading object: ",
    # shells, builds, GPU tools, Ray's jobs
    r": line \d{1,6}: (?:syntax error\b|unexpected EOF while )|: \d{1,6}: Syntax error: |: line \d{1,6}: \[{1,2}: |^[Mm]akefile:\d{1,6}: \*{3} |^(?:ptxas|nvcc|nvlink|cudafe\+\+) (?:fatal|error) {1,4}: |^(?:\S{1,100}/)?ld(?:\.\w{1,6})?: cannot find ",
    r"\bNVIDIA-SMI has failed because\b|^No devices were found\s*$|\bJob entrypoint command failed\b|\b[Rr]eceived sigquit from a child process\b|^(?:tar|gzip|unzip|sudo|jq): (?:Error is not recoverable|Unexpected EOF|stdin: (?:not in|unexpected)| ?cannot find or open|a (?:terminal|password) is required|error \()",
    r"^(?:Pod|pod) .{1,100}(?:\b[Ee]victed: |\(OOMKilled\))|^The node was low on resource: ",
    r"\bbind\b.{0,60}\b[Aa]ddress already in use|^[Aa]ddress already in use\s*$|\b[Pp]ort \d{1,5} is already (?:in use|allocated)\b(?! by)",
)
"""Patterns of the engine; `errors.weigh` judges the line."""
