"""What runs inside the measured process: the standard library, the framework, and nothing else of ours."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pacenote

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SOURCE = Path(pacenote.__file__).parent
CHILD = SOURCE / "child"
FILES = sorted(CHILD.rglob("*.py"))

FRAMEWORKS = {"torch", "torchvision", "paddle"}
# Both frameworks' users need numpy; Pillow comes with torchvision and Paddle's transforms.
OF_THE_FRAMEWORKS = {"numpy", "PIL"}
ITSELF = {"pacenote_child"}


def imports(path: Path) -> Iterator[tuple[ast.stmt, int, str]]:
    """Every import of a file wherever it stands: statement, level, first name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, 0, alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom):
            yield node, node.level, (node.module or "").partition(".")[0]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(CHILD).as_posix())
def test_it_imports_the_standard_library_the_framework_and_its_own(path: Path) -> None:
    depth = len(path.relative_to(CHILD).parts)
    for node, level, name in imports(path):
        if level:
            assert level <= depth, f"line {node.lineno} reaches out of child/"
        else:
            allowed = sys.stdlib_module_names | FRAMEWORKS | OF_THE_FRAMEWORKS | ITSELF
            assert name in allowed, f"line {node.lineno} imports {name}"


def imported_on_load(path: Path) -> set[str]:
    waiting: list[ast.AST] = list(ast.parse(path.read_text(encoding="utf-8")).body)
    found: set[str] = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))
    return found


@pytest.mark.parametrize("name", ["boot", "main", "channel", "protocol", "recorder", "events", "errors"])
def test_what_every_child_loads_needs_no_framework(name: str) -> None:
    """Import times are measured, so nothing may be imported before the clock of its own starts."""
    assert imported_on_load(CHILD / f"{name}.py") <= sys.stdlib_module_names | ITSELF


def test_the_contract_forbids_every_module_above_the_wall() -> None:
    config = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = [
        one for one in config["tool"]["importlinter"]["contracts"] if one.get("source_modules") == ["pacenote.child"]
    ]
    ours = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    forbidden = {name.removeprefix("pacenote.") for name in contract["forbidden_modules"]}
    assert ours - {"__init__", "_version", "child"} <= forbidden


def test_the_layers_name_every_module_once() -> None:
    config = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = [one["layers"] for one in config["tool"]["importlinter"]["contracts"] if one["type"] == "layers"]
    named = [name.strip() for row in layers for name in row.split("|")]
    ours = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert sorted(named) == sorted(ours - {"__init__", "_version"})
    for below, above in (("redact", "records"), ("system", "environment"), ("child", "engines"), ("system", "levers")):
        assert [below in row for row in layers].index(True) > [above in row for row in layers].index(True)
