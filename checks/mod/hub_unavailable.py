"""The model hub refused or failed a download, or is not reachable.

## What it does
Finds answers 429 (too many requests) and 5xx (the hub's own failure) of Hugging Face or ModelScope, models that need a
licence or a token, and connections that fail.

## Why it breaks training
Every rank of every job asks the hub for the same files. Many jobs behind one address reach its limit, and a short
failure of the hub ends a run that has all files on disk already.

## How to fix
Download once on the login node (`hf download ORG/NAME`), then run the job with `HF_HUB_OFFLINE=1`. With a token
(`HF_TOKEN`) the limit is higher.

## Example
    huggingface_hub.errors.HfHubHTTPError: 504 Server Error: Gateway Time-out for url: https://huggingface.co/api/models/
"""

from skyrl_doctor.core.signature import Signature

HOSTS = r"(?:[\w-]{1,40}\.){0,3}(?:huggingface\.co|hf\.co|modelscope\.cn|hf-mirror\.com)"
HUB = rf"https?://{HOSTS}"
DOWNLOADS = r"File \"[^\"\n]{0,300}/(?:huggingface_hub/|datasets/(?:load|utils|inspect|builder)|transformers/utils/hub\.py|torch/hub\.py|clip/clip\.py|open_clip/|modelscope/|nltk/downloader\.py|timm/models/|torchvision/)[^\"\n]{0,100}\", line \d"
NO_NETWORK = r"(?:Network is unreachable|Name or service not known|Temporary failure in name resolution|No route to host|No address associated with hostname|nodename nor servname|[Cc]onnection timed out|getaddrinfo failed)"
OFFLINE = "Download the model once{slurm: on the login node|} (`hf download ORG/NAME`) and run the job with `HF_HUB_OFFLINE=1`."
UNREACHABLE = "this node cannot reach the hub"
PROXY = f"{OFFLINE} Use the same `HF_HOME` in both. Where nodes reach the network through a proxy, set `HTTPS_PROXY`."

ACCESS = "Accept the model's licence on its page, and set `HF_TOKEN` of that account in the environment of all workers."
NO_TOKEN = "the hub does not accept the token of this job: it is wrong, expired or revoked"
NEW_TOKEN = "Make a token at https://huggingface.co/settings/tokens and set it as `HF_TOKEN` in the environment of all workers, or unset `HF_TOKEN` and remove `~/.cache/huggingface/token` for public models."
KEYS = ("model.path",)

FETCHED_AT_A_SAVE = r"Warning: Unable to fetch remote file due to the following error"
"""peft goes on without the file at each save."""

SIGNATURES = (
    Signature(
        pattern=r"\b[Yy]our request to access (?P<kind>model|dataset) (?P<repo>\S{1,200}) (?:is awaiting a review|is pending|is waiting for)",
        sample="Your request to access model meta-llama/Llama-3.1-8B-Instruct is awaiting a review from the repo authors.",
        explain="your request for access to {repo} is not approved yet; the token itself is accepted",
        remedy="Wait until the authors approve the request (https://huggingface.co/settings/gated-repos shows it), or use another model or a copy that is on disk.",
        versions="huggingface_hub",
        gravity=1,
        refines=("MOD003",),
    ),
    Signature(
        pattern=r"\b[Yy]our request to access (?P<kind>model|dataset) (?P<repo>\S{1,200}) (?:has been|was) rejected",
        sample="Your request to access model google/gemma-3-4b-it has been rejected by the repo's authors.",
        explain="the authors rejected your request for access to {repo}; another token of this account changes nothing",
        remedy="Use another model, a copy that is on disk, or `HF_TOKEN` of an account that has access.",
        versions="huggingface_hub",
        gravity=1,
        refines=("MOD003",),
    ),
    Signature(
        pattern=r"\bGatedRepoError: 403 Client Error\b|\b403 Client Error\b[^\n]{0,300}\bgated repo\b|\bis restricted and you are not in the authorized list\b",
        unless_above=FETCHED_AT_A_SAVE,
        sample="huggingface_hub.errors.GatedRepoError: 403 Client Error. (Request ID: Root=1-2)",
        explain="the account of this job's token is not among those that may read this model or data set",
        remedy="Ask for access on its page with the account of the token (`hf auth whoami`), and wait if its authors decide by hand. A fine-grained token also needs the permission to read gated repositories. 401 instead of 403 means a missing token.",
        versions="huggingface_hub",
        refines=("MOD003",),
    ),
    Signature(
        pattern=r"trying to access a gated repo|[Cc]annot access gated repo|\bGatedRepoError(?:$|[:( ])|\b[Aa]ccess to (?:model|dataset) \S{1,200} is restricted(?:\.| and you are not\b)|is restricted and you are not in the authorized list|\bLocalTokenNotFoundError: Token is required\b|\bawaiting a review from the repo authors\b|enable access to public gated repositories|\bis a gated dataset on the Hub\b|^(?:\w{1,40}\.){0,3}HfHubHTTPError: 403 Forbidden: |^Cannot access content at: https://huggingface\.co|\bDisabledRepoError: ",
        unless_above=FETCHED_AT_A_SAVE,
        sample="OSError: You are trying to access a gated repo. Make sure to have access to it at https://huggingface.co/meta-llama/Llama-3.1-8B.",
        explain="the hub gives this model only to accounts that accepted its licence, and this job has no such token",
        remedy=ACCESS,
        versions="transformers, huggingface_hub",
        refines=("MOD003",),
    ),
    Signature(
        pattern=rf"\b401 Client Error: Unauthorized for url: {HUB}/api/whoami|\bUser Access Token \".{{1,80}}\" is expired",
        sample="requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://huggingface.co/api/whoami-v2",
        explain=NO_TOKEN,
        remedy=NEW_TOKEN,
        versions="huggingface_hub",
        refines=("MOD003",),
    ),
    Signature(
        pattern=r"\b(?:Invalid user token|Invalid credentials in Authorization header|Invalid username or password)\b",
        near=rf"\bhuggingface_hub\b|\bHfHubHTTPError\b|\bhuggingface-cli\b|\bhf auth\b|{HUB}",
        within=30,
        unless=r"\b(?:openai|anthropic|wandb)\.|Error code: 401 - ",
        sample="huggingface_hub.errors.HfHubHTTPError: Invalid user token. If you didn't pass a user token, make sure you are properly logged in",
        explain=NO_TOKEN,
        remedy=NEW_TOKEN,
        versions="huggingface_hub",
        refines=("MOD003",),
    ),
    Signature(
        pattern=rf"\b(?P<status>5\d\d) Server Error: .{{1,60}} for url: {HUB}|\bHfHubHTTPError: 5\d\d\b|\bServer error '5\d\d [^'\n]{{1,60}}' for url '{HUB}",
        sample="huggingface_hub.errors.HfHubHTTPError: 504 Server Error: Gateway Time-out for url: https://huggingface.co/api/models/Qwen/Qwen2.5-7B",
        explain="the hub failed to answer: its own fault, not the model's name",
        remedy=f"Try again later. {OFFLINE}",
        versions="huggingface_hub",
        refines=("MOD003",),
    ),
    Signature(
        pattern=rf"\b429 Client Error: .{{1,60}} for (?:url|URL): {HUB}|\bHfHubHTTPError: 429\b|\bClient error '429 [^'\n]{{1,60}}' for url '{HUB}|\bWe had to rate limit your IP\b",
        sample="requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://huggingface.co/Qwen/Qwen2.5-7B/resolve/main/config.json",
        explain="the hub limits the requests of this address or account (429)",
        remedy=f"{OFFLINE} Set `HF_TOKEN`: with an account the limit is higher.",
        versions="huggingface_hub",
        refines=("MOD003",),
    ),
    Signature(
        pattern=r"\b(?:[Cc]ould not|[Uu]nable to) resolve host(?: address)?:? .{0,3}(?P<host>(?:[\w-]{1,40}\.)?(?:huggingface\.co|hf\.co|modelscope\.cn))",
        sample="curl: (6) Could not resolve host: huggingface.co",
        explain=UNREACHABLE,
        remedy=PROXY,
        versions="curl, wget, git",
        last_resort=True,
    ),
    Signature(
        pattern=rf"\b(?:MaxRetryError|ConnectTimeout): .{{0,40}}\(?host='{HOSTS}'",
        sample="urllib3.exceptions.MaxRetryError: HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded with url: /org/name (Caused by ConnectTimeoutError(",
        explain=UNREACHABLE,
        remedy=PROXY,
        versions="urllib3, requests",
        refines=("MOD003",),
    ),
    Signature(
        pattern=r"couldn't connect to 'https://huggingface\.co/?'|\bLocalEntryNotFoundError: .{0,300}(?:check your (?:internet )?connection|error happened while trying to locate)",
        sample="OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files.",
        explain="this node cannot reach the hub, and its cache does not hold the files",
        remedy=PROXY,
        versions="transformers, huggingface_hub",
        refines=("MOD003",),
    ),
    Signature(
        pattern=rf"(?:Error|Timeout): .{{0,60}}host='{HOSTS}', port=443\): Read timed out|\b(?:Connection|SSL|Proxy)Error(?:: |\().{{0,40}}\(host='{HOSTS}', port=443\): Max retries exceeded|[Cc]annot (?:connect to|reach) .{{0,20}}huggingface\.co|Cannot reach https://hf|Error: Couldn't reach (?:'[^'\n]{{1,200}}' on the Hub \(|{HUB})|\bDistant resource does not seem to be on huggingface\.co",
        unless="offline mode is enabled",
        sample="requests.exceptions.ConnectionError: (MaxRetryError(\"HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded",
        explain=UNREACHABLE,
        remedy=PROXY,
        versions="huggingface_hub",
        refines=("MOD003",),
    ),
    Signature(
        pattern=r'^\s*File "[^"\n]{0,300}/transformers/utils/hub\.py", line \d',
        near=rf"(?:Network is unreachable|Name or service not known|Temporary failure in name resolution|No route to host|Connection refused|timed out|Max retries exceeded)[^\n]{{0,200}} thrown while requesting (?:HEAD|GET) {HUB}",
        within=30,
        unless_above=r"raise_for_status|\b40[134] Client Error",
        sample='  File "/venv/lib/python3.12/site-packages/transformers/utils/hub.py", line 278, in cached_file',
        explain=UNREACHABLE,
        remedy=PROXY,
        versions="huggingface_hub",
        refines=("MOD003",),
    ),
    Signature(
        pattern=r"\bThere was a specific connection error when trying to load\b|\bCAS (?:service|[Cc]lient) [Ee]rror\b|\bConsistency check failed: file should be of size\b",
        sample="OSError: There was a specific connection error when trying to load Qwen/Qwen2.5-7B:",
        explain="the hub or its storage did not answer a download",
        remedy=PROXY,
        versions="transformers, huggingface_hub",
        last_resort=True,
    ),
    Signature(
        pattern=rf"^(?:\W{{0,8}}|\[?[\w ]{{1,20}}\]?:? )(?:\w{{1,40}}\.){{0,6}}(?:URLError|ConnectError|ConnectTimeout|ConnectionError|gaierror|OSError|ReadTimeout|ChunkedEncodingError|IncompleteRead|ProtocolError)\b: [^\n]{{0,300}}(?:{NO_NETWORK}|Connection broken: |IncompleteRead\(|\btimed out)",
        near=DOWNLOADS,
        within=40,
        sample="urllib.error.URLError: <urlopen error [Errno 101] Network is unreachable>",
        explain="a download of model or data files failed: this node does not reach the server",
        remedy=PROXY,
        versions="huggingface_hub, torch, datasets",
        refines=("MOD003",),
    ),
)
