"""Entry point: finds the command, and turns every end into an exit code and at most one line on stderr."""

from __future__ import annotations

import functools
import importlib
import keyword
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final

import typer

from pacenote._version import __version__
from pacenote.errors import PacenoteError

MEASURE: Final = "Measure"
ELSEWHERE: Final = "Elsewhere"
RECORDS: Final = "Records"
PROOF: Final = "Proof"
DATA: Final = "Data"

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "run": (MEASURE, "Measure a workload on the devices and frameworks of this machine."),
    "compare": (MEASURE, "Compare two runs that are in the store."),
    "report": (MEASURE, "Write a run as one HTML page that opens without a network."),
    "doctor": (MEASURE, "Say what this machine and its frameworks can be measured with, and why not."),
    "advise": (ELSEWHERE, "Say which hardware, for how long, for how much."),
    "runs": (RECORDS, "List the runs in the store."),
    "show": (RECORDS, "Show a run again."),
    "export": (RECORDS, "Write a run as a trace for Perfetto or chrome://tracing."),
    "import": (RECORDS, "Read a trace of torch.profiler and keep it as a run."),
    "selftest": (PROOF, "Find the smallest difference that can be seen on this machine."),
    "prices": (DATA, "Show prices of instances, with their age and source."),
}
"""Name → (panel, one line). The module of a command is imported only when the command is called."""

INTERRUPTED: Final = 130
"""Exit code after Ctrl-C, as shells expect it (128 + SIGINT)."""

INTERRUPTION: Final = "interrupted; what was finished is kept, and the same command goes on from there."

UNEXPECTED: Final = 1
USAGE: Final = 2


class _StoppedError(PacenoteError):
    """Ctrl-C inside a command; typer would end with the code alone and say nothing."""

    exit_code = INTERRUPTED


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    sys.exit(execute(sys.argv[1:] if arguments is None else arguments))


def execute(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; no traceback reaches the terminal."""
    if list(arguments) in (["--help"], ["-h"], ["help"]):
        from pacenote.cli.overview import overview

        overview(COMMANDS)
        return 0
    try:
        code = build(arguments)(args=list(arguments), prog_name="pacenote", standalone_mode=False)
    except PacenoteError as error:
        return _say(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return _say(INTERRUPTION, INTERRUPTED)
    except BrokenPipeError:
        # The reader (head, less) has gone; writing again at exit would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the last line of defence: one line, and a file with the rest
        return _explain(error, arguments)
    return code if isinstance(code, int) else 0


def build(arguments: Sequence[str]) -> typer.Typer:
    """Make the application; only the command that is called is imported, the others are a name and a line."""
    app = typer.Typer(
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback(invoke_without_command=True)(_root)
    called = _called(arguments)
    for name, (panel, line) in COMMANDS.items():
        whole = name == called or _completing()
        function = importlib.import_module(module_of(name)).command if whole else _absent
        app.command(name, help=_help(line, function), short_help=line, rich_help_panel=panel)(_stoppable(function))
    return app


def module_of(name: str) -> str:
    """The module of a command; a command that is a word of Python has an underscore behind it there."""
    return f"pacenote.cli.{name}_" if keyword.iskeyword(name) else f"pacenote.cli.{name}"


def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        print(f"pacenote {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        from pacenote.cli.look import look

        look()


def _absent() -> None:
    """Stand for a command that is not called."""


def _stoppable(function: Callable[..., Any]) -> Callable[..., Any]:
    """The command, with Ctrl-C as an error of ours; its signature stays, since typer reads the options from it."""

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except KeyboardInterrupt as interrupt:
            raise _StoppedError(INTERRUPTION) from interrupt

    return call


def _help(line: str, function: Callable[..., Any]) -> str:
    """Join the line of the table and what the command's module says after its own first line."""
    module = sys.modules.get(function.__module__)
    rest = (getattr(module, "__doc__", None) or "").partition("\n\n")[2].strip()
    return f"{line}\n\n{rest}" if rest and function is not _absent else line


def _called(arguments: Sequence[str]) -> str | None:
    return next((word for word in arguments if not word.startswith("-")), None)


def _completing() -> bool:
    return "_PACENOTE_COMPLETE" in os.environ


def _say(text: str, code: int) -> int:
    print(f"pacenote: {' '.join(text.split())}", file=sys.stderr)
    return code


def _explain(error: Exception, arguments: Sequence[str]) -> int:
    """Put an option error in one line, and anything else in a file with its traceback."""
    message = getattr(error, "format_message", None)
    if callable(message):  # what typer raises for options and arguments
        called = _called(arguments)
        place = f"pacenote {called} --help" if called in COMMANDS else "pacenote --help"
        text = str(message()).strip() or "the command cannot be read."
        return _say(f"{text}{'' if text.endswith(('.', '?')) else '.'} See: {place}", USAGE)
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="pacenote-", suffix=".txt", delete=False, encoding="utf-8") as file:
        traceback.print_exception(type(error), error, error.__traceback__, file=file)
    first = (str(error).splitlines() or [""])[0]
    return _say(f"unexpected {type(error).__name__}: {first} (details: {file.name})", UNEXPECTED)


if __name__ == "__main__":
    main()
