"""Runs the trials of a study in interleaved rounds and stores each the moment it exists.

A round starts one fresh process per cell, lets all of them build their workload, and then gives turns: A0 B0 C0, C1 B1
A1, A2 B2 C2 … Only one process trains at any moment, and nothing else of ours runs meanwhile. Turns of equal number lie
next to each other in time, so their ratio is free of slow drift; fresh processes in every round show how much a process
differs from the next.
"""

from __future__ import annotations

from pacenote.runner.rounds import Ended, Runner
from pacenote.runner.setting import Parts, Settings

__all__ = ["Ended", "Parts", "Runner", "Settings"]
