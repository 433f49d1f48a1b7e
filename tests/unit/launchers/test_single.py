"""Starting a process."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from pacenote.errors import MissingPartError
from pacenote.launchers import single


def count_open() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors in /proc")
def test_an_interpreter_that_is_not_there_leaks_nothing() -> None:
    before = count_open()
    with pytest.raises(MissingPartError, match="no-such-python"):
        single.launch("/no-such-python", {})
    assert count_open() == before


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors in /proc")
def test_a_child_has_only_its_own_pipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "list.py"
    script.write_text("import os; print(sorted(os.listdir('/proc/self/fd')), os.getsid(0) == os.getpid())")
    monkeypatch.setattr(single, "BOOT", script)
    other = os.open(os.devnull, os.O_RDONLY)
    started = [single.launch(None, dict(os.environ)) for _ in range(2)]
    for launched in started:
        launched.process.wait()
    printed = [launched.output_tail().strip() for launched in started]
    for launched in started:
        launched.close()
    os.close(other)
    # Standard streams, two pipes, and the descriptor of the listing itself.
    assert all(text.count("'") == 2 * 6 and text.endswith("True") for text in printed), printed


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends the child only on Linux")
def test_killing_the_parent_leaves_no_child(tmp_path: Path) -> None:
    parent = tmp_path / "parent.py"
    parent.write_text(
        textwrap.dedent(
            """
            import os, sys, time
            from pathlib import Path
            from pacenote.launchers import single
            single.BOOT = Path(sys.argv[1])
            launched = single.launch(None, dict(os.environ))
            os.read(launched.result, 1)
            print(launched.process.pid, flush=True)
            time.sleep(600)
            """
        )
    )
    child = tmp_path / "child.py"
    boot = Path(single.__file__).resolve().parent.parent / "child" / "boot.py"
    child.write_text(
        textwrap.dedent(
            f"""
            import importlib.util, os, time
            spec = importlib.util.spec_from_file_location("boot", {str(boot)!r})
            boot = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(boot)
            boot.die_with_parent()
            os.write(int(os.environ["PACENOTE_RESULT_FD"]), b"1")
            time.sleep(600)  # never reads its control pipe
            """
        )
    )
    command = [sys.executable, str(parent), str(child)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()
    deadline = time.monotonic() + 30
    while Path(f"/proc/{pid}").exists() and _state(pid) != "Z" and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{pid}").exists() or _state(pid) == "Z"


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "Z"
