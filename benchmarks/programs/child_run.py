"""Run one real child by hand, for benchmarks that want the raw event log and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from array import array
from pathlib import Path
from typing import Any

from pacenote.child import boot, events
from pacenote.child.protocol import CONTROL_FD_VARIABLE, RESULT_FD_VARIABLE
from pacenote.records import EventLog

CACHE = Path(tempfile.gettempdir()) / "pacenote-benchmarks"


def run_child(job: dict[str, Any], seconds: float) -> EventLog:
    """Start a child, give it one warm-up turn and one long turn, and return the log of the long one."""
    control_read, control_write = os.pipe()
    result_read, result_write = os.pipe()
    environment = {
        **os.environ,
        CONTROL_FD_VARIABLE: str(control_read),
        RESULT_FD_VARIABLE: str(result_write),
        "OMP_WAIT_POLICY": "passive",
    }
    child = subprocess.Popen(
        [sys.executable, "-W", "ignore", str(boot.__file__)], pass_fds=(control_read, result_write), env=environment
    )
    os.close(control_read)
    os.close(result_write)
    with os.fdopen(control_write, "w") as control, os.fdopen(result_read) as result:

        def ask(command: dict[str, Any]) -> dict[str, Any]:
            control.write(json.dumps(command) + "\n")
            control.flush()
            answer: dict[str, Any] = json.loads(result.readline())
            if answer["msg"] == "error":
                raise RuntimeError(f"{answer['type']}: {answer['text']} ({answer['where']})")
            return answer

        result.readline()
        ask({"cmd": "job", "action": "train", "cache_dir": str(CACHE), **job})
        ask({"cmd": "turn", "turn": 0, "seconds": 1.0})
        turn = ask({"cmd": "turn", "turn": 1, "seconds": seconds})
        done = ask({"cmd": "finish"})
    child.wait()
    t_ns: array[int] = events.unpack(turn["t_ns"])
    code: array[int] = events.unpack(turn["code"])
    return EventLog(t_ns=t_ns.tobytes(), code=code.tobytes(), objects=done["objects"])
