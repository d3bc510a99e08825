"""Checks whether wandb can log in. Only this process reads the key; the output contains no secret.

The key is searched as wandb does: WANDB_API_KEY or WANDB_IDENTITY_TOKEN_FILE, then the netrc file, then the settings files.
"""

import os
import sys

if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
    del sys.path[0]

import configparser
import json
import netrc
import re
from urllib.parse import urlsplit

DEFAULT_URL = "https://api.wandb.ai"
LEAST_LENGTH = 40
JWT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+")
PLACEHOLDER = re.compile(
    r"your|<.*>|\$\{?\w|x{8}|key.?here|change.?me|replace.?me|to.?be.?(?:filled|set)|fill.?(?:me|in)|^todo$",
    re.IGNORECASE,
)


def key_problem(key):
    """What is wrong with the form of a key, without revealing it; "" if nothing is."""
    if JWT.fullmatch(key):
        return ""
    prefix, dash, secret = key.partition("-")
    secret = secret if dash else prefix
    if len(secret) < LEAST_LENGTH and PLACEHOLDER.search(key):
        return "is a placeholder"
    if not re.fullmatch(r"[\w-]+", secret):
        return "contains characters other than letters, digits, - and _"
    if len(secret) < LEAST_LENGTH:
        return f"has {len(secret)} characters; a key has at least {LEAST_LENGTH}"
    if re.fullmatch(r"[0-9a-f]+", secret) and len(secret) != LEAST_LENGTH:
        return f"has {len(secret)} characters; a key of this kind has exactly {LEAST_LENGTH}"
    return ""


def settings():
    """Settings of the global file and of the run directory, where `wandb offline` and `wandb login --host` write."""
    root = os.environ.get("WANDB_DIR") or os.getcwd()
    local = ".wandb" if os.path.exists(os.path.join(root, ".wandb")) else "wandb"
    config = os.environ.get("WANDB_CONFIG_DIR") or os.path.join("~", ".config", "wandb")
    found = {}
    for directory in (config, os.path.join(root, local)):
        path = os.path.join(os.path.expanduser(directory), "settings")
        parser = configparser.ConfigParser()
        try:
            parser.read(path)
            items = parser.items("default")
        except (OSError, UnicodeError, configparser.Error):
            continue
        for name, value in items:
            found[name] = (value, path)
    return found


def netrc_path():
    named = os.environ.get("NETRC")
    if named:
        return os.path.expanduser(named)
    paths = [os.path.expanduser(os.path.join("~", name)) for name in (".netrc", "_netrc")]
    return next((path for path in paths if os.path.exists(path)), paths[0])


def from_netrc(host):
    """[the credential] or [], and a note if the file could not be used."""
    path = netrc_path()
    if path.startswith("~"):
        return [], "HOME is not set, so the netrc file cannot be located"
    try:
        found = netrc.netrc(path).authenticators(host)
    except FileNotFoundError:
        return [], f"{path} does not exist"
    except netrc.NetrcParseError as error:
        return [], f"{path} cannot be parsed at line {error.lineno}"
    except (OSError, UnicodeError) as error:
        return [], "{} cannot be read: {}".format(path, getattr(error, "strerror", None) or "it is not a text file")
    if not found:
        return [], f"{path} has no entry for {host}"
    if not found[2]:
        return [], f"the entry for {host} in {path} has no password"
    return [[path, key_problem(found[2])]], ""


def from_variables():
    key, token = os.environ.get("WANDB_API_KEY"), os.environ.get("WANDB_IDENTITY_TOKEN_FILE")
    if key and token:
        return [["WANDB_API_KEY", "and WANDB_IDENTITY_TOKEN_FILE are both set; wandb accepts only one of them"]]
    if token:
        return [["WANDB_IDENTITY_TOKEN_FILE", "" if os.path.isfile(token) else "names a file that does not exist"]]
    return [["WANDB_API_KEY", key_problem(key)]] if key else []


def setting(found, name, variable):
    """[value, source]: the variable wins over the files, even if it is empty."""
    if variable in os.environ:
        return [os.environ[variable], variable]
    return list(found.get(name, (None, "")))


def server(url):
    """The host of a server's URL as in a netrc file; "" if wandb would refuse the URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return parts.netloc.rpartition("@")[2] if parts.scheme in ("http", "https") else ""


def examine():
    found = settings()
    url, url_from = setting(found, "base_url", "WANDB_BASE_URL")
    url = DEFAULT_URL if url is None else url
    host = server(url)
    credentials, note = from_variables(), ""
    if not credentials:
        credentials, note = from_netrc(host)
    if not credentials and found.get("api_key", ("", ""))[0]:
        key, path = found["api_key"]
        credentials = [[path, key_problem(key)]]
    mode, mode_from = setting(found, "mode", "WANDB_MODE")
    return {
        "url": url.rpartition("@")[2],
        "url_from": url_from,
        "host": host,
        "mode": mode,
        "mode_from": mode_from,
        "credentials": credentials,
        "note": note,
    }


if __name__ == "__main__":
    print(json.dumps(examine()))  # noqa: T201 -- a child prints its answer
