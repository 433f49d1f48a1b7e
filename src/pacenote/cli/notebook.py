"""``%%pacenote``: measures the training in a cell of a notebook; the cell runs as it would have run."""

from __future__ import annotations

import io
import shlex
from typing import TYPE_CHECKING, Any

from pacenote.cli.words import say

if TYPE_CHECKING:
    from pacenote.records import Scalar


class Magic:
    """The cell magic.

    Args:
        shell: IPython's interactive shell.
    """

    def __init__(self, shell: Any) -> None:
        self.shell = shell

    def __call__(self, line: str, cell: str) -> None:
        """Run a cell and show, below what it printed itself, where its steps' time went.

        Args:
            line: What stands behind ``%%pacenote``: ``--lang en|zh``, ``--name NAME`` and levers (``--dtype bf16``).
            cell: The code.
        """
        from pacenote.experiments import cell as experiment
        from pacenote.report.locale import resolve
        from pacenote.store import Store

        given, levers = _options(line)
        language = resolve(given.get("--lang"))
        with Store() as store:
            answer = experiment.run(
                lambda: self._run(cell),
                store,
                levers=levers,
                name=given.get("--name"),
                command=["%%pacenote", line],
            )
            self._show(answer, store, language)

    def _run(self, cell: str) -> None:
        """Run the cell in the user's namespace; an error is raised here and shown once, by the cell's own end."""
        show, self.shell.showtraceback = self.shell.showtraceback, lambda *_, **__: None
        try:
            result = self.shell.run_cell(cell, store_history=False)
        finally:
            self.shell.showtraceback = show
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            self._trim(error)
            raise error

    def _trim(self, error: BaseException) -> None:
        """Have an error of the cell shown as it would have been: from the cell on, without the frames of who ran it."""
        frame = error.__traceback__
        while frame is not None and _is_of_a_package(frame.tb_frame.f_code.co_filename):
            frame = frame.tb_next
        if frame is not None:
            lines = self.shell.InteractiveTB.structured_traceback(type(error), error, frame)
            error._render_traceback_ = lambda: lines  # type: ignore[attr-defined]

    def _show(self, answer: Any, store: Any, language: str) -> None:
        from rich.console import Console

        from pacenote.cli import present
        from pacenote.report import text as report

        if answer.study is None:
            shown = f"pacenote: {say(language, f'script.{answer.why_not}', script='cell', detail=answer.detail)}"
        else:
            console = Console(width=110, force_terminal=False, force_jupyter=False, record=True, file=io.StringIO())
            console.print(*report.render(present.load(store, answer.study), language), sep="\n")
            shown = console.export_text().strip("\n")
        from IPython.display import display  # type: ignore[import-not-found,unused-ignore]

        display({"text/plain": shown}, raw=True)


def _is_of_a_package(filename: str) -> bool:
    """Whether a file is IPython's or ours, and not the cell or the user's own."""
    return any(part in filename for part in ("IPython", "ipykernel/", "pacenote/"))


def _options(line: str) -> tuple[dict[str, str], dict[str, Scalar]]:
    """Language and name that were asked for, and the levers.

    Raises:
        UsageError: If something else stands there, or a lever that acts only on a process that starts.
    """
    from pacenote.child import outside
    from pacenote.cli.levers import outside_values
    from pacenote.errors import UsageError
    from pacenote.levers import LEVERS

    options = {lever.option: lever.name for lever in LEVERS}
    found: dict[str, str] = {}
    axes: dict[str, str] = {}
    words = shlex.split(line)
    while words:
        option = words.pop(0)
        if (option not in ("--lang", "--name") and option not in options) or not words:
            known = "use --lang en|zh, --name NAME or an option of a lever, as --dtype bf16"
            raise UsageError(f"%%pacenote: {option!r} is not known or has no value; {known}.")
        if option in options:
            axes[options[option]] = words.pop(0)
        else:
            found[option] = words.pop(0)
    levers = outside_values(axes)
    for late in (LEVERS.get(name).option for name in levers if name not in outside.names()):
        raise UsageError(f"{late}: acts only on a process that starts; use pacenote run script.py.")
    return found, levers


def load(shell: Any) -> None:
    """Register the magic."""
    shell.register_magic_function(Magic(shell), "cell", "pacenote")
