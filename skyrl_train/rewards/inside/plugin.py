"""A plugin of pytest: reports each result to the grader over a socket, and refuses objects that are equal to everything.

It runs beside the code under test, in the image's own Python (3.6 or newer) and pytest. Its name is new in every run.
"""

import ast
import builtins
import hashlib
import json
import os
import random
import socket
import unittest

import _pytest
import pytest
from _pytest.assertion import rewrite

VARIABLE = "SKYRL_GRADE"
_SAME = "@skyrl_same"
_MOST_VALUES = 200
_FAR = [random.SystemRandom().randint(10**9, 10**12) for _ in range(3)]
"""An approximate number of the tests has no such tolerance."""
_PLAIN = frozenset([bool, bytearray, bytes, complex, dict, float, frozenset, int, list, set, str, tuple, type(None)])
"""Compiled types whose `==` asks no other object but their items, which are looked at one by one."""
_WORDS = {
    "passed": "PASSED",
    "failed": "FAILED",
    "error": "ERROR",
    "skipped": "SKIPPED",
    "xfailed": "XFAIL",
    "xpassed": "XPASS",
}


def _settings():
    """The settings of this process. A process that the tests start has none, and its environment is as it would be."""
    settings = json.loads(os.environ.pop(VARIABLE, "null"))
    for name, value in (settings or {}).get("restore", {}).items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    return settings


_KEY_S = 60


def _connected(door):
    """A connection to the supervisor and its key; None if another pytest of this run has it, as only one is graded."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(_KEY_S)
        connection.connect(door)
        key = connection.recv(64)
        connection.settimeout(None)
    except OSError:
        return None
    return (connection, key) if len(key) == 64 else None


def _sender(connection, key):
    """A function that sends a message, each with a digest that needs the key of this run and all messages before it."""
    state = [hashlib.blake2b(key=key)]
    owner = os.getpid()

    def send(*words):
        if os.getpid() != owner:
            return  # a child process that ran into our hooks
        data = json.dumps(words).encode()
        state[0].update(data)
        connection.sendall(state[0].copy().hexdigest().encode() + b" " + data + b"\n")

    return send


def _is_true(result):
    """Not for arrays, whose comparison is another array."""
    return result is True or (isinstance(result, (int, str)) and bool(result))


def _far_probes(other, nonce):
    """Values that no honest object is equal to if it is equal to the other one."""
    yield object()
    if isinstance(other, str):
        yield str(other) + nonce
    elif isinstance(other, bytes):
        yield bytes(other) + nonce.encode()
    elif isinstance(other, (list, tuple)):
        yield type(other)([*other, nonce]) if type(other) in (list, tuple) else object()
    elif isinstance(other, dict):
        yield {**other, nonce: nonce}


def _near_probes(other):
    """Three values like the other one, so that an object cannot know them from the real one; none for other types.

    An honest object may be equal to one of them, as a remainder is, but not to all.
    """
    pick = random.SystemRandom()
    if isinstance(other, str):
        return [_changed_text(other, pick) for _ in range(3)]
    if isinstance(other, bytes):
        return [_changed_text(other.decode("latin-1"), pick).encode("latin-1") for _ in range(3)]
    if type(other) in (int, float) and other == other:  # no NaN
        return [other + offset for offset in pick.sample(range(1, max(10, int(min(abs(other), 10**15)))), 3)]
    return []


def _changed_text(text, pick):
    """With another letter or digit in one place. Blanks, signs and cases stay: honest objects may ignore them."""
    places = [at for at, char in enumerate(text) if char.isalnum() and char.isascii()]
    if not places:
        return text + "".join(pick.choice("abcdefghijkmnopqrstuvwxyz") for _ in range(pick.randint(1, 6)))
    at = pick.choice(places)
    letters = "23456789" if text[at].isdigit() else "abcdefghijkmnopqrstuvwxyz"
    return text[:at] + pick.choice(letters.replace(text[at].lower(), "")) + text[at + 1 :]


def _takes_all(value, probes):
    """Whether it is equal to all of them, or answers by chance."""
    answers = [(_equal(value, probe), _equal(value, probe)) for probe in probes]
    return any(one != two for one, two in answers) or (bool(answers) and all(one for one, _ in answers))


def _equal(value, probe):
    try:
        return _is_true(value == probe)
    except Exception:  # noqa: BLE001 -- of any object's own comparison
        return False


def _same_of(send, changed):
    """`==` of an assertion, which fails for an object of changed code that is equal to everything."""
    nonce = hex(random.SystemRandom().getrandbits(128))

    def same(left, right, literal):
        for _ in range(random.SystemRandom().randint(1, 3)):  # an object that counts cannot know which one is real
            _refuse(left, right, literal)
        result = left == right
        if _is_true(result):
            _refuse(left, right, literal)
        return result

    def _refuse(left, right, literal):
        for value, other in ((left, right), (right, left)):
            if _is_universal(value, other, literal, 4, [_MOST_VALUES]):
                send("universal", type(value).__name__)
                raise AssertionError("an object of the changed code is equal to everything")

    def _is_universal(value, other, literal, depth, left):
        left[0] -= 1
        if left[0] < 0 or not depth:
            return False
        changed_code = _is_ours(value, literal=False)
        if changed_code or _is_ours(value, literal):
            near = _near_probes(other) if changed_code else _FAR
            if _takes_all(value, near) or any(_equal(value, probe) for probe in _far_probes(other, nonce)):
                return True
        pairs = ()
        if isinstance(value, (list, tuple)):
            others = list(other) if isinstance(other, (list, tuple)) else []
            pairs = [(each, others[at] if at < len(others) else None) for at, each in enumerate(list(value))]
        elif isinstance(value, (set, frozenset)):
            pairs = [(each, None) for each in list(value)]
        elif isinstance(value, dict):
            others = other if isinstance(other, dict) else {}
            pairs = [(value[key], others.get(key)) for key in list(value)] + [(key, None) for key in list(value)]
        return any(_is_universal(each, mate, literal, depth - 1, left) for each, mate in pairs)

    def _is_ours(value, literal):
        """Whether its `==` is code that the agent may have written or, beside a literal of the test, may have chosen."""
        method = getattr(type(value), "__eq__", None)
        code = getattr(method, "__code__", None)
        if code is None:  # compiled code may ask another object, as a weak proxy does
            return type(method).__name__ != "wrapper_descriptor" or not (
                type(value) in _PLAIN or hasattr(type(value), "__array__")
            )
        name = os.path.realpath(code.co_filename)
        return literal or name in changed or not os.path.exists(name)

    return same


def _is_literal(node):
    """Whether a side of a comparison has no names, and so nothing that the test did not write itself."""
    return not any(isinstance(each, (ast.Name, ast.Call, ast.Lambda)) for each in ast.walk(node))


class _Asserts(ast.NodeTransformer):
    def visit_Assert(self, node):
        test = node.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
            name = ast.Name(id=_SAME, ctx=ast.Load())
            sides = [test.left, test.comparators[0]]
            literal = ast.parse(repr(any(map(_is_literal, sides))), mode="eval").body
            call = ast.Call(func=name, args=[*sides, literal], keywords=[])
            node.test = ast.copy_location(call, test)
            ast.fix_missing_locations(node)
        return node


def _watch_equality(same):
    setattr(builtins, _SAME, same)
    run = rewrite.AssertionRewriter.run
    assert_equal = unittest.TestCase.assertEqual

    def run_changed(self, module):
        _Asserts().visit(module)
        return run(self, module)

    def assert_equal_changed(self, first, second, msg=None):
        if type(first).__eq__ is not type(second).__eq__ or not isinstance(first, (str, int, float, bytes)):
            try:
                same(first, second, literal=False)
            except AssertionError:
                raise
            except Exception:  # noqa: BLE001, S110 -- of any object's own comparison; the original raises it
                pass
        return assert_equal(self, first, second, msg)

    rewrite.AssertionRewriter.run = run_changed
    unittest.TestCase.assertEqual = assert_equal_changed


class _Reporter:
    """Sends the results under the names and in the words of pytest's short summary, without its messages."""

    def __init__(self, send, config, changed):
        self._send = send
        self._config = config
        self._changed = changed

    def pytest_runtest_logreport(self, report):
        status = self._config.hook.pytest_report_teststatus(report=report, config=self._config)[0]
        word = _WORDS.get(status)
        if word == "XFAIL" and getattr(report, "skyrl_changed_code_gave_up", False):
            word = "FAILED"
        if word is not None:
            self._send("result", word, self._name(report.nodeid))

    def pytest_collectreport(self, report):
        if report.failed:
            self._send("result", "ERROR", self._name(report.nodeid))

    def pytest_sessionfinish(self, exitstatus):
        self._send("finish", int(exitstatus))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        if call.excinfo is not None and hasattr(report, "wasxfail") and not item.get_closest_marker("xfail"):
            report.skyrl_changed_code_gave_up = _raised_in(call.excinfo.tb, self._changed)

    def _name(self, nodeid):
        return self._config.cwd_relative_nodeid(nodeid)


def _raised_in(trace, changed):
    """Whether the last frame outside of pytest is in a changed file: the code under test called pytest.xfail itself."""
    own, last = os.path.dirname(os.path.realpath(_pytest.__file__)) + os.sep, ""
    while trace is not None:
        name = os.path.realpath(trace.tb_frame.f_code.co_filename)
        last = last if name.startswith(own) else name
        trace = trace.tb_next
    return last in changed or (last != "" and not os.path.exists(last))


_found = _settings()
_connection = None if _found is None else _connected(_found["door"])
if _connection is not None:
    _changed = frozenset(_found["changed"])
    _send = _sender(*_connection)
    _send("begin", pytest.__version__)
    _watch_equality(_same_of(_send, _changed))

    def pytest_configure(config, _send=_send, _changed=_changed):
        config.pluginmanager.register(_Reporter(_send, config, _changed))

    del _send, _connection
