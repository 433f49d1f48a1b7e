"""Children are started from the main thread only.

The kernel ends a child when the *thread* that started it ends (prctl(2), PR_SET_PDEATHSIG), so a child of a
helper thread would be killed in the middle of a measurement.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest
from scripted import FakeClock, FakeEngine, FakeKeeper, FakeMeters

import pacenote
from pacenote.launchers import single
from pacenote.records import Cell, Effort, Study, TrialSpec
from pacenote.runner import Parts, Runner, Settings
from pacenote.system import doctor

SOURCE = Path(pacenote.__file__).parent
CHILD_BOOT = SOURCE / "child" / "boot.py"

# The one thread of ours: it reads lines on systems whose selectors cannot, and starts nothing.
KNOWN_THREADS = {"engines/lines.py"}


def names_used(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return found | {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def test_no_module_of_ours_makes_threads() -> None:
    makers = {"Thread", "Timer", "ThreadPoolExecutor", "ProcessPoolExecutor", "to_thread", "start_new_thread"}
    above_the_wall = [path for path in SOURCE.rglob("*.py") if "child" not in path.relative_to(SOURCE).parts]
    found = {path.relative_to(SOURCE).as_posix() for path in above_the_wall if names_used(path) & makers}
    assert found <= KNOWN_THREADS


def test_processes_are_started_at_known_places_only() -> None:
    starting = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if {"Popen", "create_subprocess_exec", "posix_spawn"} & names_used(path)
    }
    assert {"launchers/script.py", "launchers/single.py", "system/doctor.py", "system/sensors.py"} >= starting


class Watched(FakeEngine):
    """Writes down which thread starts each child."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self.threads: list[threading.Thread] = []

    def start(self, job: dict[str, Any], **options: Any) -> Any:
        self.threads.append(threading.current_thread())
        return super().start(job, **options)


def test_the_runner_starts_every_child_from_the_thread_that_called_it() -> None:
    clock = FakeClock()
    engine = Watched(clock)
    spec = TrialSpec(workload="lenet", framework="simulated", levers={"name": "a"})
    study = Study(id="s", question="run", created_unix_s=0.0, cells=[Cell(label="a", spec=spec)])
    parts = Parts(engine=engine, keeper=FakeKeeper(), meters=FakeMeters(clock), clock=clock)
    Runner(study, parts, Settings(rounds=3, effort=Effort(turns=2))).run()
    assert engine.threads == [threading.main_thread()] * 3


def test_the_doctor_asks_from_the_thread_that_called_it(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []

    def refuse(*arguments: Any, **options: Any) -> Any:
        threads.append(threading.current_thread())
        raise OSError("no process today")

    monkeypatch.setattr(doctor.subprocess, "Popen", refuse)
    found = doctor.ask(None, ["pytorch", "paddle"])
    assert {answer["reason"] for answer in found.values()} == {"no_interpreter"}
    assert threads == [threading.main_thread()] * 2


RESTING = f"""
import importlib.util, os
spec = importlib.util.spec_from_file_location("boot", {str(CHILD_BOOT)!r})
boot = importlib.util.module_from_spec(spec)
spec.loader.exec_module(boot)
boot.die_with_parent()
os.write(int(os.environ["PACENOTE_RESULT_FD"]), b"1")
os.read(int(os.environ["PACENOTE_CONTROL_FD"]), 1)
"""


@pytest.fixture
def resting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Children that ask to die with their starter and then wait for a word."""
    script = tmp_path / "resting.py"
    script.write_text(textwrap.dedent(RESTING))
    monkeypatch.setattr(single, "BOOT", script)


linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its starter")


@linux_only
@pytest.mark.usefixtures("resting")
def test_why_it_matters_a_child_ends_with_the_thread_that_started_it() -> None:
    started: list[single.Launched] = []

    def start() -> None:
        launched = single.launch(None, dict(os.environ))
        started.append(launched)
        os.read(launched.result, 1)  # it has asked

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert started[0].process.wait(timeout=60) == -9
    started[0].close()


@linux_only
@pytest.mark.usefixtures("resting")
def test_a_child_of_the_main_thread_outlives_other_threads() -> None:
    launched = single.launch(None, dict(os.environ))
    os.read(launched.result, 1)
    for _ in range(3):
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
    assert launched.process.poll() is None
    os.write(launched.control, b"x")
    assert launched.process.wait(timeout=60) == 0
    launched.close()


@linux_only
def test_a_child_whose_parent_is_gone_already_ends_itself() -> None:
    """It was adopted by process 1 before it could ask the kernel; only then may it not go on."""
    code = f"""
import importlib.util, os
spec = importlib.util.spec_from_file_location("boot", {str(CHILD_BOOT)!r})
boot = importlib.util.module_from_spec(spec)
spec.loader.exec_module(boot)
os.getppid = lambda: 1
boot.die_with_parent()
print("went on")
"""
    for parent, goes_on in (("4242", False), ("1", True)):
        environ = {**os.environ, "PACENOTE_PARENT_PID": parent}
        done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=False)
        assert ("went on" in done.stdout) is goes_on


@pytest.mark.usefixtures("resting")
def test_closing_twice_is_harmless_and_ends_a_waiting_child() -> None:
    launched = single.launch(None, dict(os.environ))
    os.read(launched.result, 1)
    launched.close()
    launched.close()
    assert launched.process.wait(timeout=60) == 0


def test_only_the_end_of_what_was_printed_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "loud.py"
    script.write_text("import sys\nprint('a' * 200_000)\nsys.stderr.buffer.write(b'\\xff last words')\n")
    monkeypatch.setattr(single, "BOOT", script)
    launched = single.launch(None, dict(os.environ))
    launched.process.wait(timeout=60)
    tail = launched.output_tail()
    launched.signal_group()  # of a process that has ended: nothing happens
    launched.close()
    assert len(tail) <= single.OUTPUT_TAIL_BYTES
    assert tail.endswith("last words")


def test_a_child_gets_the_folder_and_the_variables_it_was_given_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "say.py"
    script.write_text(
        "import os\nprint(os.getcwd(), sorted(k for k in os.environ if k.startswith(('PACENOTE', 'PLANT'))))\n"
    )
    monkeypatch.setattr(single, "BOOT", script)
    monkeypatch.setenv("PLANTED_TOKEN", "x")
    environ = {name: value for name, value in os.environ.items() if name != "PLANTED_TOKEN"}
    launched = single.launch(sys.executable, environ, folder=str(tmp_path))
    launched.process.wait(timeout=60)
    said = launched.output_tail().strip()
    launched.close()
    names = ["PACENOTE_CONTROL_FD", "PACENOTE_PARENT_PID", "PACENOTE_RESULT_FD"]
    assert said == f"{os.path.realpath(tmp_path)} {names}"
