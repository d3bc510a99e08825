"""The texts for the model when its reply could not be run, one for each kind of error."""

from skyrl_train.contracts.agent.calls import CallError, CallErrorKind, Span

FORM = "<function=NAME>\n<parameter=PARAMETER>value</parameter>\n</function>"

_TEXTS = {
    CallErrorKind.EMPTY_REPLY: "Your reply was empty. Call one function, in this form:\n" + FORM,
    CallErrorKind.NO_CALL: (
        "Your reply calls no function. Call one, in this form:\n" + FORM + "\nWhen the task is done, call finish."
    ),
    CallErrorKind.CALL_IN_THINKING: (
        "Your call stands inside your thinking, so it was not run. Close it with </think>, then write the call."
    ),
    CallErrorKind.CUT_BY_LENGTH: (
        "Your reply was cut at the length limit, so nothing was run. Write less, or split the work over several calls."
    ),
    CallErrorKind.STRAY_TEXT: (
        "Only parameters may stand inside <function={subject}>, so nothing was run. Use this form:\n" + FORM
    ),
    CallErrorKind.BROKEN_PARAMETER: (
        "A parameter tag of <function={subject}> cannot be read, so nothing was run."
        " Write <parameter=PARAMETER>value</parameter>."
    ),
    CallErrorKind.UNCLOSED_PARAMETER: (
        "The reply ends inside parameter '{subject}', so nothing was run. Close it with </parameter>."
        " A value must not hold </function: there your reply stops."
    ),
    CallErrorKind.AMBIGUOUS_VALUE: (
        "It is not clear where parameter '{subject}' ends, so nothing was run. Close each parameter with one"
        " </parameter>, with nothing but white space before the next tag. A value cannot hold these tags themselves:"
        " write them to a file in pieces."
    ),
    CallErrorKind.DUPLICATE_PARAMETER: "Parameter '{subject}' is given twice, so nothing was run. Give it once.",
    CallErrorKind.UNKNOWN_TOOL: "The function '{subject}' does not exist, so nothing was run. Functions: {expected}.",
    CallErrorKind.UNKNOWN_PARAMETER: (
        "The parameter '{subject}' does not exist, so nothing was run. Parameters of this function: {expected}."
    ),
    CallErrorKind.MISSING_PARAMETER: "Parameter '{subject}' ({expected}) is required here, so nothing was run.",
    CallErrorKind.BAD_VALUE: "Parameter '{subject}' must be {expected}, so nothing was run.",
}

SUBJECT_CHARS = 80
"""The most characters of the model's text that an error repeats."""


def call_error(kind: CallErrorKind, span: Span, *, subject: str = "", expected: str = "") -> CallError:
    """An error with its text for the model. `subject` is a name that the model wrote; it is shortened."""
    short = subject if len(subject) <= SUBJECT_CHARS else subject[:SUBJECT_CHARS] + "…"
    return CallError(kind, span, _TEXTS[kind].format(subject=short, expected=expected))
