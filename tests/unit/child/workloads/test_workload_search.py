"""Finding workloads: built-in ones by folder scan, a third party's by its file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pacenote.child import workloads
from pacenote.child.errors import UnsupportedError

OTHER = """
from pacenote.child.workloads import Workload
WORKLOAD = Workload("other", {}, defaults={"batch_size": [1]}, axes=(), flop_per_sample=lambda levers: 1.0,
                    parameters=lambda levers: 1)
"""


def test_the_built_in_ones_are_found() -> None:
    assert workloads.names() == ("lenet", "simplenet")
    assert workloads.find("lenet").name == "lenet"


def test_an_unknown_name_lists_the_known() -> None:
    with pytest.raises(UnsupportedError, match=r"unknown workload 'resnet'; known: lenet, simplenet"):
        workloads.find("resnet")


def test_a_third_partys_file_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "plugin.py").write_text(OTHER)
    assert workloads.find("other", str(tmp_path / "plugin.py")).name == "other"


def test_a_file_without_the_named_workload_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plugin.py").write_text(OTHER)
    with pytest.raises(UnsupportedError, match="holds no WORKLOAD called 'another'"):
        workloads.find("another", str(tmp_path / "plugin.py"))
    with pytest.raises(UnsupportedError, match="is not a Python file"):
        workloads.find("other", str(tmp_path / "absent.py"))


def test_a_framework_or_data_mode_that_a_workload_lacks_is_refused() -> None:
    simplenet = workloads.find("simplenet")
    with pytest.raises(UnsupportedError, match="not written for jax"):
        simplenet.build("jax", workloads.Request(None))
    with pytest.raises(UnsupportedError, match="no data mode 'loader'"):
        simplenet.build("pytorch", workloads.Request(None, data_mode="loader"))


def test_an_absent_lever_means_its_default() -> None:
    request = workloads.Request(None, levers={"batch_size": None, "width": 2.0})
    assert request.lever("batch_size", 32) == 32
    assert request.lever("width", 1.0) == 2.0


def test_importing_every_workload_loads_no_framework() -> None:
    program = (
        "import sys; from pacenote.child import workloads; workloads.names(); "
        "assert not {'numpy', 'torch', 'paddle', 'PIL'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
