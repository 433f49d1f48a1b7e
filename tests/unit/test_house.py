"""The rules of the house, measured: sizes, layers inside files, prints, excepts, names, import cycles."""

from __future__ import annotations

import ast
import io
import re
import statistics
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "pacenote"
FILES = sorted(path for path in SOURCE.rglob("*.py"))
BENCHMARKS = sorted((ROOT / "benchmarks").rglob("*.py"))

LONGEST_FILE = 400
MEDIAN_FILE = 150
SHORT_FUNCTION = 40
SHORT_SHARE = 0.95
LONGEST_FUNCTION = 80
MOST_POSITIONAL = 5
DEEPEST = 3
FORBIDDEN_STEMS = {"utils", "util", "helpers", "helper", "common", "misc"}
# Data, not code: the words of a language are one flat table.
TABLES = {f"report/locale/{name}.py" for name in ("en", "zh", "en_findings", "zh_findings", "en_advice", "zh_advice")}
LEAST_TESTS_PER_CODE = 1.0
"""Lines of test for a line of code; docstrings, comments and blank lines do not count."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def functions() -> Iterator[tuple[str, Function]]:
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, Function):
                yield f"{name_of(path)}:{node.lineno} {node.name}", node


def length(node: Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_the_files_were_found() -> None:
    assert len(FILES) > 50


def test_files_are_short() -> None:
    code = [path for path in FILES if name_of(path) not in TABLES]
    long = {name_of(path): lines_of(path) for path in code if lines_of(path) > LONGEST_FILE}
    assert long == {}
    assert statistics.median(lines_of(path) for path in code) <= MEDIAN_FILE


def test_functions_are_short() -> None:
    lengths = {name: length(node) for name, node in functions()}
    assert {name: size for name, size in lengths.items() if size > LONGEST_FUNCTION} == {}
    long = sorted(name for name, size in lengths.items() if size > SHORT_FUNCTION)
    assert 1 - len(long) / len(lengths) >= SHORT_SHARE, long


def test_functions_take_few_positional_parameters() -> None:
    wide = {}
    for name, node in functions():
        # A command's parameters are its options: typer reads them from the signature and passes them by name.
        if name.startswith("cli/") and name.endswith(" command"):
            continue
        arguments = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
        own = [argument for argument in arguments if argument not in ("self", "cls")]
        if len(own) > MOST_POSITIONAL:
            wide[name] = own
    assert wide == {}


def test_no_file_is_a_drawer_for_odds_and_ends() -> None:
    assert [name_of(path) for path in FILES if path.stem in FORBIDDEN_STEMS] == []


def test_folders_are_shallow() -> None:
    deep = [name_of(path) for path in FILES if len(path.relative_to(SOURCE).parts) > DEEPEST]
    assert deep == []


def test_every_module_says_what_it_is_and_defers_annotations() -> None:
    for path in FILES:
        tree = tree_of(path)
        assert ast.get_docstring(tree), f"{name_of(path)} has no docstring"
        if any(isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)) for node in tree.body):
            source = path.read_text(encoding="utf-8")
            assert "from __future__ import annotations" in source, name_of(path)


def test_only_the_command_line_prints() -> None:
    printing = [
        f"{name_of(path)}:{node.lineno}"
        for path in FILES
        if not name_of(path).startswith("cli/")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert printing == []


def is_program(tree: ast.Module) -> bool:
    """Whether the module is run as a process of its own."""
    return any(isinstance(node, ast.If) and "__main__" in ast.unparse(node.test) for node in tree.body)


def test_no_library_code_exits() -> None:
    exits = [
        f"{name_of(path)}:{node.lineno}"
        for path in FILES
        if not name_of(path).startswith(("cli/", "child/")) and not is_program(tree_of(path))
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) in {("sys", "exit"), ("os", "_exit")}
    ]
    assert exits == []


def test_a_broad_except_carries_its_reason() -> None:
    for path in [*FILES, *BENCHMARKS]:
        source = path.read_text(encoding="utf-8").splitlines()
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, ast.ExceptHandler):
                continue
            assert node.type is not None, f"{path.name}:{node.lineno}: bare except"
            broad = isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")
            reraised = any(isinstance(inner, ast.Raise) and inner.exc is None for inner in ast.walk(node))
            if broad and not reraised:
                assert re.search(r"#.*\w{3,}.* - \w+|# (?!noqa)\w+", source[node.lineno - 1]), (
                    f"{path.name}:{node.lineno}: say why everything is caught"
                )


def test_a_silenced_check_carries_its_reason() -> None:
    for path in [*FILES, *BENCHMARKS]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if "# noqa" in line:
                assert re.search(r"# noqa: [A-Z0-9, ]+ - \w+", line), f"{name_of(path)}:{number}: {line.strip()}"


def test_no_unfinished_business() -> None:
    marks = re.compile(r"\b(TODO|FIXME|XXX)\b")
    found = [
        f"{name_of(path)}:{number}"
        for path in FILES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if marks.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(("folder", "version"), [("child", (3, 9)), ("", (3, 10))])
def test_the_syntax_is_that_of_the_oldest_python(folder: str, version: tuple[int, int]) -> None:
    for path in sorted((SOURCE / folder).rglob("*.py")):
        ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=version)


def module_of(path: Path) -> str:
    parts = ("pacenote", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_at_load(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that run when the module does: not those in functions, nor those for type checkers only."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting.extend(node.orelse)
        elif not isinstance(node, (*Function.__args__, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))


def import_graph() -> dict[str, set[str]]:
    modules = {module_of(path): path for path in FILES}
    graph: dict[str, set[str]] = {}
    for name, path in modules.items():
        package = name if path.stem == "__init__" else name.rpartition(".")[0]
        found: set[str] = set()
        for node in imports_at_load(tree_of(path)):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
                continue
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                found.add(inner if inner in modules else base)
        graph[name] = {module for module in found if module in modules and module != name}
    return graph


def test_imports_have_no_cycle() -> None:
    graph = import_graph()
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path[path.index(name) :], name))
        if name in done:
            return
        for other in sorted(graph[name]):
            # A package that its own module asks for is there already, half loaded: that is a cycle too.
            visit(other, (*path, name))
        done.add(name)

    for name in graph:
        visit(name, ())


def code_lines(path: Path) -> int:
    """Lines that hold code: no comment, no blank line, no docstring."""
    source = path.read_text(encoding="utf-8")
    empty = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in empty:
            held.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, *Function.__args__)) and ast.get_docstring(node) is not None:
            held.difference_update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(held)


def test_tests_keep_up_with_the_code() -> None:
    code = sum(code_lines(path) for path in FILES if name_of(path) not in TABLES)
    tests = sum(code_lines(path) for path in (ROOT / "tests").rglob("*.py"))
    assert tests >= LEAST_TESTS_PER_CODE * code, f"{tests} lines of tests for {code} of code"
