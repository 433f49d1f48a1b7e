"""The script that starts the measured process, run as the parent runs it."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pacenote.child import boot
from pacenote.child.protocol import CONTROL_FD_VARIABLE, RESULT_FD_VARIABLE

BOOT = Path(boot.__file__)
JOB = {"cmd": "job", "action": "train", "framework": "simulated", "levers": {}}

pytestmark = pytest.mark.skipif(os.name != "posix", reason="passes descriptors as POSIX does")


class Child:
    """A started process, spoken to over its pipes."""

    def __init__(self, cwd: Path) -> None:
        control_read, self.control = os.pipe()
        self.result, result_write = os.pipe()
        own = {CONTROL_FD_VARIABLE: str(control_read), RESULT_FD_VARIABLE: str(result_write)}
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self.process = subprocess.Popen(
            [sys.executable, str(BOOT)],
            env={**kept, **own},
            cwd=cwd,
            pass_fds=(control_read, result_write),
            stderr=subprocess.PIPE,
        )
        os.close(control_read)
        os.close(result_write)
        self.rest = b""

    def say(self, **command: Any) -> None:
        os.write(self.control, json.dumps(command).encode() + b"\n")

    def hear(self) -> dict[str, Any] | None:
        """The next message; None at the end."""
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.result], [], [], 60)
            assert ready, "the child says nothing"
            chunk = os.read(self.result, 65536)
            if not chunk:
                return None
            self.rest += chunk
        line, _, self.rest = self.rest.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def end(self) -> tuple[int, str]:
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors.decode()

    def hang_up(self) -> None:
        if self.control >= 0:
            os.close(self.control)
            self.control = -1

    def close(self) -> None:
        self.hang_up()
        os.close(self.result)
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Child]:
    started = Child(tmp_path)
    yield started
    started.close()


def test_a_whole_life_without_the_package_installed(child: Child) -> None:
    child.say(**JOB)
    child.say(cmd="turn", turn=0, steps=5)
    child.say(cmd="finish")
    messages = []
    while (message := child.hear()) is not None:
        messages.append(message)
    assert [message["msg"] for message in messages] == ["hello", "ready", "turn", "done"]
    assert messages[0]["pid"] == child.process.pid
    assert messages[2]["steps"] == 5
    assert child.end() == (0, "")


def test_an_error_is_told_and_shows_no_traceback(child: Child) -> None:
    child.say(**JOB, fault={"kind": "exception", "step": 2})
    child.say(cmd="turn", turn=0, steps=5)
    last: dict[str, Any] = {}
    while (message := child.hear()) is not None:
        last = message
    assert (last["msg"], last["type"]) == ("error", "RuntimeError")
    assert last["where"].startswith("faults.py:")
    assert child.end() == (1, "")


@pytest.mark.parametrize("said", [[], [JOB], [JOB, {"cmd": "turn", "turn": 0, "steps": 2}]], ids=len)
def test_a_parent_that_hangs_up_ends_it_quietly_at_its_next_gate(said: list[dict[str, Any]], child: Child) -> None:
    for command in said:
        child.say(**command)
    child.hang_up()
    while child.hear() is not None:
        continue
    assert child.end() == (0, "")


def test_the_users_modules_are_not_shadowed_by_files_beside_the_script(tmp_path: Path) -> None:
    """A user's events.py must be found as theirs, and ours must not be found as a top-level module at all."""
    (tmp_path / "events.py").write_text("WHOSE = 'the user'\n")
    plugin = tmp_path / "plugin.py"
    plugin.write_text(
        "import sys\n"
        "from importlib.util import find_spec\n"
        "import events\n"
        "assert events.WHOSE == 'the user'\n"
        "raise LookupError(repr([find_spec(name) for name in ('recorder', 'protocol', 'openmp')]))\n"
    )
    program = (
        f"import runpy, sys; sys.argv = [{str(BOOT)!r}]; sys.path.insert(0, {str(BOOT.parent)!r})\n"
        "import os\n"
        "try:\n"
        f"    runpy.run_path({str(BOOT)!r}, run_name='__main__')\n"
        "except KeyError:\n"  # no pipes in the environment: the path is clean by then
        "    pass\n"
        f"runpy.run_path({str(plugin)!r})\n"
    )
    variables = {**os.environ, "PYTHONPATH": str(tmp_path)}
    variables.pop("PACENOTE_PARENT_PID", None)
    done = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == "LookupError: [None, None, None]"


def test_registering_twice_keeps_the_first_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, boot.PACKAGE, raising=False)
    boot.register()
    first = sys.modules[boot.PACKAGE]
    boot.register()
    assert sys.modules[boot.PACKAGE] is first
    assert list(first.__path__) == [str(BOOT.parent)]
    monkeypatch.delitem(sys.modules, boot.PACKAGE)


def test_a_spawned_worker_finds_the_same_package() -> None:
    """A spawned loader worker imports the script as ``__mp_main__``, and unpickles classes of the package by name."""
    program = (
        "import pickle, runpy, sys\n"
        f"runpy.run_path({str(BOOT)!r}, run_name='__mp_main__')\n"
        "found = pickle.loads(b'cpacenote_child.faults\\nFault\\n.')\n"
        "assert found.__module__ == 'pacenote_child.faults', found\n"
    )
    subprocess.run([sys.executable, "-I", "-c", program], check=True)


class TestDyingWithTheParent:
    @pytest.mark.skipif(sys.platform != "linux", reason="the kernel does this on Linux only")
    def test_a_killed_parent_leaves_no_orphan(self, tmp_path: Path) -> None:
        script = tmp_path / "parent.py"
        script.write_text(
            "import os, subprocess, sys, time\n"
            "control, result = os.pipe(), os.pipe()\n"
            f"env = dict(os.environ, {CONTROL_FD_VARIABLE}=str(control[0]), {RESULT_FD_VARIABLE}=str(result[1]))\n"
            f"child = subprocess.Popen([sys.executable, {str(BOOT)!r}], env=env, pass_fds=(control[0], result[1]))\n"
            "os.close(result[1])\n"
            "os.read(result[0], 10)\n"  # its hello: the request was made before
            "print(child.pid, flush=True)\n"
            "time.sleep(600)\n"
        )
        with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as parent:
            assert parent.stdout is not None
            pid = int(parent.stdout.readline())
            watch = os.pidfd_open(pid)
            parent.kill()
        ready, _, _ = select.select([watch], [], [], 60)
        os.close(watch)
        assert ready, "the child outlived its parent"

    def test_elsewhere_nothing_is_asked_of_the_kernel(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(boot.sys, "platform", "darwin")
        monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: pytest.fail("asked the C library"))
        boot.die_with_parent()

    @pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel")
    @pytest.mark.parametrize(
        ("parent", "named", "ends"), [(1, "77", True), (1, "1", False), (77, "77", False), (1, None, False)]
    )
    def test_one_that_was_orphaned_before_it_asked_ends_at_once(
        self, parent: int, named: str | None, ends: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[tuple[Any, ...]] = []
        left: list[int] = []

        class Library:
            def __init__(self, *_: Any, **__: Any) -> None:
                self.prctl = lambda *arguments: asked.append(arguments)

        monkeypatch.setattr("ctypes.CDLL", Library)
        monkeypatch.setattr(boot.os, "getppid", lambda: parent)
        monkeypatch.setattr(boot.os, "_exit", left.append)
        monkeypatch.delenv("PACENOTE_PARENT_PID", raising=False)
        if named is not None:
            monkeypatch.setenv("PACENOTE_PARENT_PID", named)
        boot.die_with_parent()
        assert asked == [(1, signal.SIGKILL, 0, 0, 0)]
        assert left == ([1] if ends else [])
