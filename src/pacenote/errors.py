"""Every error Pacenote raises on purpose, each with its exit code.

The tree (exit code in brackets; the table in docs/exit-codes.md is checked against this file)::

    PacenoteError                 [1]
    ├── UsageError                [2]  an option or argument that cannot be used as given
    │   └── UnknownNameError      [2]  a name that is in no registry; lists the known ones
    ├── MissingPartError          [3]  a framework, package or device this machine lacks
    ├── StoreError                [4]  the store cannot be opened, read or written
    │   └── SchemaError           [4]  a record written by a newer or unreadable schema
    ├── MeasurementError          [5]  no trial of the study finished
    ├── RefusedError              [6]  a number was asked for that cannot be stood behind
    └── DataError                 [7]  input data is not in the published format

A message names what is wrong, where, and what to do, in one line.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class PacenoteError(Exception):
    """Root of all errors raised on purpose; the command line prints its text as one line."""

    exit_code = 1


class UsageError(PacenoteError):
    """An option or argument cannot be used as given."""

    exit_code = 2


class UnknownNameError(UsageError):
    """A name that no registry knows.

    Args:
        what: The kind of thing looked up, for example ``"workload"``.
        name: The name that was not found.
        known: Every name that would have been accepted.
    """

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        self.what = what
        self.name = name
        self.known = tuple(sorted(known))
        near = get_close_matches(name, self.known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        listed = ", ".join(self.known) or "none"
        super().__init__(f"unknown {what} {name!r}.{hint} Known: {listed}.")


class MissingPartError(PacenoteError):
    """A framework, package or device that this machine lacks."""

    exit_code = 3


class StoreError(PacenoteError):
    """The store cannot be opened, read or written."""

    exit_code = 4


class SchemaError(StoreError):
    """A record's schema is newer than this version, or cannot be read."""


class MeasurementError(PacenoteError):
    """No trial of the study finished, so there is nothing to report."""

    exit_code = 5


class RefusedError(PacenoteError):
    """A number was asked for that the evidence cannot carry."""

    exit_code = 6


class DataError(PacenoteError):
    """Input data is not in its published format."""

    exit_code = 7
