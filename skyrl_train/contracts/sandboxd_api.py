"""The words of the agent server's routes, as clients of openhands 1.8.2 to 1.58 write them.

sandboxd runs where nothing else is installed: this module, like the others beside it, is Python 3.8 and imports only
them. `skyrl_train.contracts.sandbox.wire` hands the same words to the runtime server and to clients.
"""

SESSION_KEY_HEADER = "X-Session-API-Key"
SESSION_KEY_VARIABLES = ("OH_SESSION_API_KEYS_0", "SESSION_API_KEY")
"""Where an agent server finds its key; the first one that is set counts. sandboxd takes both away from its children."""

ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": "131072"}
"""Of sandboxd's own environment: glibc gives a long text back to the system when it is let go, whichever thread held it.
Left to itself it keeps one such text for each thread. sandboxd takes this away from its children."""

PORT = 60000
"""Of an agent server in its container."""

ALIVE, HEALTH, READY, SERVER_INFO = "/alive", "/health", "/ready", "/server_info"
BASH_START = "/api/bash/start_bash_command"
BASH_EXECUTE = "/api/bash/execute_bash_command"
BASH_EVENTS = "/api/bash/bash_events"
BASH_SEARCH = "/api/bash/bash_events/search"
BASH_COMMANDS = "/api/bash/bash_commands"
"""…/{command_id}/stop"""
FILE_UPLOAD = "/api/file/upload"
FILE_DOWNLOAD = "/api/file/download"
FILE_CREATE_DIRECTORY = "/api/file/create_directory"
"""The first two with ?path=/abs, as clients since 1.20 write it, or with the path after them, as 1.8.2 does (RUN009)."""
GIT_CHANGES = "/api/git/changes"
GIT_DIFF = "/api/git/diff"

BASH_COMMAND, BASH_OUTPUT = "BashCommand", "BashOutput"
TIMED_OUT = -1
"""The exit code of a command that was ended at its time-out, or that could not be started."""
DEFAULT_TIMEOUT_S = 300
LIMIT = "limit: "
"""Begins a line of the log about what went beyond a limit of the sandbox, and was ended."""
