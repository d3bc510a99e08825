"""Reads the installed OpenHands SDK (required fields, prompt templates) and tests whether our records can be pickled.

The SDK's source is parsed, because importing it takes seconds.
"""

import os
import sys

if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
    del sys.path[0]

import importlib.util
import json

FILES = {
    "ActionEvent": ("event", "llm_convertible", "action.py"),
    "MessageToolCall": ("llm", "message.py"),
}


def directory_of(package):
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return places[0] if places else None


def required(path, name):
    """The fields of a class without a default, in order; None if the class is missing."""
    import ast  # only needed if the SDK is installed

    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return None
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    if not classes:
        return None
    fields = [node for node in classes[0].body if isinstance(node, ast.AnnAssign)]
    return [field.target.id for field in fields if isinstance(field.target, ast.Name) and is_required(field)]


def is_required(field):
    import ast

    name = field.target.id
    if name.startswith("_") or "ClassVar" in ast.dump(field.annotation):
        return False
    value = field.value
    if value is None:
        return True
    if not isinstance(value, ast.Call) or getattr(value.func, "id", "") != "Field":
        return False
    given = {keyword.arg for keyword in value.keywords}
    first = value.args[0] if value.args else None
    dots = isinstance(first, ast.Constant) and first.value is Ellipsis
    return dots or (first is None and not given & {"default", "default_factory"})


def templates(directory):
    return sorted({name for _, _, names in os.walk(directory) for name in names if name.endswith(".j2")})


def own_templates(name):
    """The directory and templates of the plan's agent class, and whether the class sets its own prompt files."""
    module = name.rpartition(".")[0]
    top = directory_of(module.partition(".")[0])
    if not module or top is None:
        return None
    path = os.path.join(top, *module.split(".")[1:])
    source = path + ".py" if os.path.isfile(path + ".py") else os.path.join(path, "__init__.py")
    try:
        with open(source, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    directory = os.path.dirname(source)
    overrides = any(word in text for word in ("prompt_dir", "system_prompt_filename", "system_prompt="))
    return {"directory": directory, "templates": templates(os.path.join(directory, "prompts")), "overrides": overrides}


def version():
    """The SDK's version, from the name of its metadata directory as in interpreter.py."""
    for entry in sys.path:
        try:
            names = os.listdir(entry or ".")
        except OSError:
            continue
        for name in names:
            if name.startswith("openhands_sdk-") and name.endswith(".dist-info"):
                return name[len("openhands_sdk-") : -len(".dist-info")]
    return ""


def own_records():
    """Whether our records survive pickling: "ok", "missing" (not installed), "stay" (no Ray, so none is pickled), or an
    error message.
    """
    if importlib.util.find_spec("skyrl_train") is None:
        return "missing"
    if importlib.util.find_spec("ray") is None:
        return "stay"
    try:
        import pickle

        from skyrl_train.contracts.agent.limits import Limits
        from skyrl_train.contracts.agent.metrics import Counts

        samples = [Counts(rollouts=1), Limits(model_len=2, prompt_tokens=1, response_tokens=1, reply_tokens=1)]
        for sample in samples:
            if pickle.loads(pickle.dumps(sample)) != sample:  # noqa: S301 -- pickled here
                return type(sample).__name__ + " comes back changed"
        if (
            importlib.util.find_spec("pydantic") is None
        ):  # needed for their JSON; importing it would take longer than this program
            return "ModuleNotFoundError: No module named 'pydantic'"
    except Exception as error:  # noqa: BLE001 -- any error is the result
        return type(error).__name__ + ": " + " ".join(str(error).split())[:300]
    return "ok"


def main():
    sdk = directory_of("openhands.sdk")
    records = {name: required(os.path.join(sdk, *file), name) for name, file in FILES.items()} if sdk else {}
    answer = {
        "sdk": version() if sdk else "",
        "records": {name: fields for name, fields in records.items() if fields is not None},
        "templates": templates(sdk) if sdk else [],
        "templates_at": sdk or "",
        "own_records": own_records(),
        "agent": own_templates(sys.argv[1]) if len(sys.argv) > 1 else None,
    }
    sys.stdout.write(json.dumps(answer) + "\n")


main()
