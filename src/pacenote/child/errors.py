"""The errors a child raises on purpose; ``kind`` is the word that crosses the pipe."""

from __future__ import annotations


class ChildError(Exception):
    """Root of the child's own errors.

    Attributes:
        kind: One of ``protocol.ERROR_KINDS``.
    """

    kind = "exception"


class BadDataError(ChildError):
    """Input data is not in its published format, or cannot be read or written."""

    kind = "bad_data"


class UnsupportedError(ChildError):
    """The workload or the framework cannot do what was asked."""

    kind = "unsupported"


class MissingDeviceError(ChildError):
    """The device is not on this machine; the text is a reason code."""

    kind = "missing_device"


class MissingFrameworkError(ChildError):
    """The framework cannot be imported in this interpreter."""

    kind = "missing_framework"
