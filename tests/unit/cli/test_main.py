"""Every end of a command is an exit code and at most one line on stderr."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pacenote._version import __version__
from pacenote.cli.main import COMMANDS, INTERRUPTED, main
from pacenote.errors import DataError, MissingPartError, PacenoteError, RefusedError, StoreError

Call = Callable[..., Any]


def command_that(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Put a command in the place of ``runs`` that raises ``error``."""

    def command() -> None:
        raise error

    module = ModuleType("pacenote.cli.runs")
    module.command = command  # type: ignore[attr-defined]
    command.__module__ = module.__name__
    monkeypatch.setitem(sys.modules, "pacenote.cli.runs", module)


def test_help_names_every_command(call: Call) -> None:
    answer = call("--help")
    assert answer.code == 0
    for name, (_, line) in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(line)}$", answer.out, re.MULTILINE)
    assert call("-h").out == answer.out


def test_version(call: Call) -> None:
    assert call("--version") == (0, f"pacenote {__version__}\n", "")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_of_its_own(call: Call, name: str) -> None:
    answer = call(name, "--help")
    assert answer.code == 0
    assert COMMANDS[name][1] in " ".join(answer.out.split())
    assert "--json" in answer.out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("runs", "--nonsense"), "pacenote: No such option: --nonsense"),
        (("nonsense",), "pacenote: No such command 'nonsense'."),
        (("runs", "--limit", "many"), "pacenote: Invalid value for '--limit'"),
        (("runs", "--limit", "0"), "pacenote: Invalid value for '--limit'"),
        (("show", "a", "b"), "pacenote: Got unexpected extra argument"),
        (("runs", "--lang", "fr"), "pacenote: unknown language 'fr'"),
    ],
)
def test_a_bad_option_is_one_line_and_exit_code_2(call: Call, arguments: tuple[str, ...], expected: str) -> None:
    answer = call(*arguments)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith(expected)
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    "error", [PacenoteError("p"), MissingPartError("m"), StoreError("s"), RefusedError("r"), DataError("two\nlines")]
)
def test_an_error_of_ours_is_one_line_with_its_code(
    call: Call, monkeypatch: pytest.MonkeyPatch, error: PacenoteError
) -> None:
    command_that(monkeypatch, error)
    assert call("runs") == (error.exit_code, "", f"pacenote: {' '.join(str(error).split())}\n")


def test_ctrl_c_is_130(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    command_that(monkeypatch, KeyboardInterrupt())
    answer = call("runs")
    assert answer.code == INTERRUPTED
    assert answer.err.startswith("pacenote: interrupted; what was finished is kept")
    assert answer.err.count("\n") == 1


def test_the_unexpected_is_one_line_and_a_file(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    command_that(monkeypatch, ZeroDivisionError("by zero"))
    answer = call("runs")
    assert answer.code == 1
    assert answer.err.count("\n") == 1
    found = re.search(r"unexpected ZeroDivisionError: by zero \(details: (\S+)\)", answer.err)
    assert found
    details = Path(found.group(1))
    assert "Traceback" in details.read_text(encoding="utf-8")
    details.unlink()


def test_a_reader_that_goes_away_is_no_error(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pacenote.cli.main.os.dup2", lambda source, target: None)
    command_that(monkeypatch, BrokenPipeError())
    assert call("runs").code == 0


def test_a_broken_store_is_one_line(call: Call, store_path: Path) -> None:
    store_path.write_text("this is no database, but it is long enough to have a header" * 3)
    answer = call("runs")
    assert answer.code == 4
    assert "is not a Pacenote store" in answer.err


def test_main_exits_with_the_code(call: Call) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["nonsense"])
    assert ended.value.code == 2
