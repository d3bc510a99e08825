"""Parses the runtime's address, which the jobs pass on in a file or a variable. Pure."""


def one_url(text: str) -> str | None:  # FIX(SLM004)
    """The URL in a text, or None if the text holds anything else.

    A shell function that logs to standard output mixes its log lines into the value that its caller stores.
    """
    lines = text.splitlines()
    if len(lines) != 1 or len(lines[0].split()) != 1 or not lines[0].startswith(("http://", "https://")):
        return None
    return lines[0].strip()
