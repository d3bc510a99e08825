"""What the failures SLM look like in logs, where no check stands beside them yet."""

from skyrl_doctor.core.signature import Signature

SIGNATURES = {
    "SLM004": (
        Signature(
            pattern=r"""Request URL is missing an? ['\"]http|\bhttpx\.(?:UnsupportedProtocol|InvalidURL)\b""",
            sample="httpx.UnsupportedProtocol: Request URL is missing an 'http://' or 'https://' protocol.",
            explain="the runtime's URL is not a URL: log lines went into it",
            versions="httpx",
        ),
    ),
}
