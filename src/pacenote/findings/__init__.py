"""Findings: what the trials of a study say, as codes with parameters. Pure: no clock, no framework, no file."""

from __future__ import annotations

from pacenote.findings.codes import CODES
from pacenote.findings.judge import RULES_VERSION, judge, reached_width

__all__ = ["CODES", "RULES_VERSION", "judge", "reached_width"]
