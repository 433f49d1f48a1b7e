"""What the store has accepted survives ``kill -9`` of its writer, and two writers at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pacenote.store import Store

ROOT = Path(__file__).resolve().parents[2]
STUDY = "s" * 20

WRITER = """
import sys, itertools
from fake_trials import trial
from pacenote.records import Study
from pacenote.store import Store

store, name = Store(sys.argv[1]), sys.argv[2]
store.put_study(Study(id="s" * 20, question="run", created_unix_s=1.0))
for number in itertools.islice(itertools.count(), int(sys.argv[3])):
    record = trial([[0.01] * 50] * 4, id=f"{name}-{number:06}")
    store.put_trial(record, "s" * 20)
    print(record.id, flush=True)
"""


def writer(store: Path, name: str, count: int) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
    command = [sys.executable, "-c", WRITER, str(store), name, str(count)]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


@pytest.mark.parametrize("after", [1, 4, 9])
def test_every_accepted_trial_survives_a_killed_writer(tmp_path: Path, after: int) -> None:
    child = writer(tmp_path / "store.sqlite", "a", 10_000)
    assert child.stdout is not None
    accepted = [child.stdout.readline().strip() for _ in range(after)]
    child.send_signal(signal.SIGKILL)
    accepted += child.stdout.read().split()
    child.stdout.close()
    assert child.wait() == -signal.SIGKILL
    with Store(tmp_path / "store.sqlite") as store:
        kept = store.trials(STUDY)
        # The last line may be cut off, and one trial may have been kept before it could be told.
        whole = [name for name in accepted if len(name) == len("a-000000")]
        assert [record.id for record in kept][: len(whole)] == whole
        assert len(kept) - len(whole) <= 1
        assert all(len(record.events.t_ns) == len(record.events.code) > 0 for record in kept)
        store.put_study(store.get_study(STUDY))  # and it can be written to


def test_two_writers_wait_for_each_other(tmp_path: Path) -> None:
    children = [writer(tmp_path / "store.sqlite", name, 15) for name in ("a", "b")]
    for child in children:
        child.communicate(timeout=120)
    assert [child.returncode for child in children] == [0, 0]
    with Store(tmp_path / "store.sqlite") as store:
        names = [record.id for record in store.trials(STUDY, events=False)]
    assert sorted(names) == sorted(f"{name}-{number:06}" for name in ("a", "b") for number in range(15))
