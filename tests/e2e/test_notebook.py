"""A training cell of a notebook is measured where it stands: its output and the kernel's state stay its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from pacenote.segment import segment
from pacenote.store import Store

SETUP = """
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(8, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(16, 8), torch.randint(0, 2, (16,))
""".strip()

TRAIN = """
for step in range(40):
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("trained", step)
loss.item()
""".strip()

STATE = 'print(step, round(net.weight.sum().item(), 6), "step" in dir(), type(optimizer).step.__qualname__)'


def run(cells: list[str], folder: Path) -> list[dict[str, Any]]:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in cells])
    place = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=place).execute()
    return [cell.outputs for cell in notebook.cells]


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("PACENOTE_STORE", str(path))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    return path


@pytest.mark.torch
def test_a_cell_is_measured_and_its_output_and_state_stay_its_own(store: Path, tmp_path: Path) -> None:
    plain = run([SETUP, TRAIN, STATE], tmp_path)
    measured = run(["%load_ext pacenote", SETUP, f"%%pacenote --name mine\n{TRAIN}", STATE], tmp_path)
    assert measured[3] == plain[2]
    own, shown = measured[2][:-1], measured[2][-1]
    assert [one.get("text") for one in own if one["output_type"] == "stream"] == ["trained 39\n"]
    assert [one["data"] for one in own if one["output_type"] != "stream"] == [
        one["data"] for one in plain[1] if one["output_type"] != "stream"
    ]
    assert "Backward" in shown["data"]["text/plain"]
    with Store(store) as opened:
        study = opened.get_study("mine")
        (record,) = opened.trials(study.id)
    assert len(segment(record.events)) == 40


@pytest.mark.torch
def test_an_error_of_the_cell_is_its_own_and_shown_once(store: Path, tmp_path: Path) -> None:
    cells = ["%load_ext pacenote", SETUP, f"%%pacenote\n{TRAIN}\nraise ValueError('mine')"]
    with pytest.raises(CellExecutionError, match="mine") as told:
        run(cells, tmp_path)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", str(told.value))
    assert shown.count("ValueError: mine") == 1
    assert "site-packages" not in shown
    assert "cell.py" not in shown  # nothing of ours stands in it
    with Store(store) as opened:
        (record,) = opened.trials(opened.get_study("last").id)
    assert record.outcome.error_type == "ValueError"


@pytest.mark.torch
def test_a_cell_that_trains_nothing_is_told_so_in_one_line(tmp_path: Path) -> None:
    outputs = run(["%load_ext pacenote", "%%pacenote\nprint(1 + 1)"], tmp_path)
    assert outputs[1][0]["text"] == "2\n"
    assert outputs[1][1]["data"]["text/plain"].startswith("pacenote: no process of")


IMAGES = """
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 6 * 6, 2))
x, y = torch.randn(16, 3, 8, 8), torch.randint(0, 2, (16,))
def train(optimizer, steps):
    for _ in range(steps):
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""".strip()

MAKE_AND_TRAIN = """
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
train(optimizer, 12)
""".strip()

LOOK = """
print(torch.get_num_threads(), net[0].weight.stride(), net[0].weight.grad.stride(), net(x).dtype,
      [group["fused"] for group in optimizer.param_groups], optimizer.defaults["fused"],
      "_step_supports_amp_scaling" in vars(optimizer), type(net).forward.__qualname__,
      torch.utils.data.DataLoader.__init__.__qualname__, type(optimizer).__init__.__qualname__)
train(optimizer, 3)
print(round(net[3].weight.sum().item(), 4))
""".strip()

LEVERS = "--threads 2 --memory-format channels_last --fused-optimizer on --compile on --loader-workers 1"


@pytest.mark.torch
def test_levers_act_in_the_cell_and_are_taken_back_after_it(store: Path, tmp_path: Path) -> None:
    plain = run([IMAGES, MAKE_AND_TRAIN, LOOK], tmp_path)
    cells = ["%load_ext pacenote", IMAGES, f"%%pacenote --name levers {LEVERS}\n{MAKE_AND_TRAIN}", LOOK]
    assert run(cells, tmp_path)[3] == plain[2]
    with Store(store) as opened:
        (record,) = opened.trials(opened.get_study("levers").id)
    outcomes = {one.name: one.applied or one.reason for one in record.levers}
    compiled = outcomes.pop("compile")
    assert outcomes == {
        "threads": True,
        "memory_format": True,
        "fused_optimizer": True,
        "loader_workers": "no_training_loader",
    }
    assert compiled in (True, "compiler_failed")  # without a C++ compiler there is no backend


@pytest.mark.torch
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--allocator no_trim", "acts only on a process that starts"),
        ("--width 2", "only a workload can be built so"),
        ("--dtype bf16,fp32", "give one value"),
        ("--dtype", "'--dtype' is not known or has no value"),
    ],
)
def test_a_lever_that_cannot_act_in_a_cell_is_refused_in_one_line(line: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CellExecutionError, match=said):
        run(["%load_ext pacenote", f"%%pacenote {line}\nprint(1)"], tmp_path)
