"""Imports in the background what verl imports only when it starts the model servers, while the driver waits for its workers."""

import contextlib
import importlib
import threading

SERVER = "verl.workers.rollout.vllm_rollout.vllm_async_server"


def import_ahead(name: str = SERVER) -> threading.Thread:
    """Begins, and returns at once. If the import fails, verl's own import raises the error in its place.

    Call it when Ray runs: Ray's processes inherit the environment, and vLLM changes it while it is imported.
    """
    thread = threading.Thread(target=_import, args=(name,), name="imports-ahead", daemon=True)
    thread.start()
    return thread


def _import(name: str) -> None:
    with contextlib.suppress(Exception):
        importlib.import_module(name)
