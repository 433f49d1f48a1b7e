from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pacenote.errors import DataError, SchemaError
from pacenote.predict import cost, operators, trace


def document(**changes: Any) -> dict[str, Any]:
    product = {
        "phase": "forward", "name": "mm", "dtype": "fp16", "count": 3, "inputs": [[512, 256], [256, 1024]],
        "outputs": [[512, 1024]], "flop": 2.0 * 512 * 256 * 1024, "read_bytes": 786432, "written_bytes": 1048576,
        "facts": {"gemm": [1, 512, 1024, 256]},
    }  # fmt: skip
    return {
        "schema": 1, "name": "one product", "framework": "torch", "samples": 512,
        "program": {"train": True, "dtype": "fp16"},
        "parameters": 262144, "parameter_bytes": 524288, "buffer_bytes": 0, "peak_bytes": {"forward": 1},
        "operations": [product], **changes,
    }  # fmt: skip


def test_a_stored_trace_reads_back_compressed_or_not(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.json", tmp_path / "a.json.gz"
    plain.write_text(json.dumps(document()), encoding="utf-8")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert trace.read(plain) == trace.read(packed)
    assert trace.read(plain).flop == 3 * 2 * 512 * 256 * 1024


def test_what_is_no_trace_is_refused() -> None:
    with pytest.raises(DataError):
        trace.decode(b"{}")
    with pytest.raises(DataError, match="no operation"):
        trace.decode(json.dumps(document(operations=[])).encode())
    with pytest.raises(SchemaError, match="update"):
        trace.decode(json.dumps(document(schema=99)).encode())


def test_columns_hold_what_the_formula_needs() -> None:
    columns = operators.columns(trace.decode(json.dumps(document()).encode()))
    assert set(columns) == set(operators.COLUMNS)
    assert [columns[name][0] for name in ("m", "n", "k", "half", "count")] == [512, 1024, 256, 1, 3]


def test_the_longer_of_device_and_host_decides() -> None:
    import numpy as np

    assert cost.step_time(np.array([1000.0]), np.array([10.0]))[0] == pytest.approx(1000, rel=1e-3)
    assert cost.step_time(np.array([10.0]), np.array([1000.0]))[0] == pytest.approx(1000, rel=1e-3)
