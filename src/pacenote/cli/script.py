"""``pacenote run train.py``: the user's own script, measured as it runs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from pacenote.cli.words import say
from pacenote.errors import UsageError

if TYPE_CHECKING:
    from pacenote.engines.spool import Attached
    from pacenote.experiments.script import Answer

NOT_FOR_SCRIPTS: Final = ("framework", "device", "data", "data_mode", "rounds", "time_budget", "within", "plan")
"""Options of the main job that say what a script says itself, or how often to repeat it."""

RANKS_MISSING: Final = 5
"""Exit code when a rank that was expected left no events, and the script itself ended well."""


def is_script(target: str, *, module: bool) -> bool:
    """Whether a run is of a script: a module, a file, or a program, but no workload of that name."""
    import shutil

    from pacenote import workload_index

    if module:
        return True
    if target in workload_index.names():
        return False
    return target.endswith((".py", ".pyw")) or Path(target).is_file() or shutil.which(target) is not None


def measure_script(target: str, given: Mapping[str, Any], usual: Mapping[str, Any], command: Sequence[str]) -> None:
    """Run it, say what was seen on stderr, and end with its exit code.

    Raises:
        UsageError: If an option is not for scripts.
        Exit: With the script's exit code, when that is not 0.
    """
    from pacenote.cli.levers import outside_values
    from pacenote.cli.values import duration_s
    from pacenote.experiments import script
    from pacenote.redact import redact
    from pacenote.report.locale import resolve
    from pacenote.store import Store

    strange = [name for name in NOT_FOR_SCRIPTS if given[name] not in (None, usual.get(name))]
    if strange:
        typed = ", ".join(f"--{name.replace('_', '-')}" for name in strange)
        raise UsageError(f"{typed}: not for scripts; {target} says that itself.")
    if given["as_json"]:
        raise UsageError("stdout belongs to the script; print its JSON afterwards: pacenote show last --json.")
    language = resolve(given["lang"])
    levers = outside_values(given["axes"])
    options = script.ScriptOptions(
        target=target,
        arguments=list(given["arguments"] or []),
        module=given["module"],
        python=given["python"],
        steps=given["steps"],
        seconds=None if given["seconds"] is None else duration_s(given["seconds"], "--seconds"),
        data_function=given["data_fn"] or "",
        depth=given["operators"],
        levers=levers,
        name=None if given["name"] is None else redact(given["name"]),
        command=list(command),
    )
    quiet = given["quiet"]
    with Store() as store:
        answer = script.run(options, store, lambda seen: None if quiet else _early(seen, language))
        _report(answer, store, target, given, language)
    _leave(answer)


def _early(seen: Sequence[Attached], language: str) -> None:
    """One line while the script still runs."""
    from pacenote import units
    from pacenote.experiments.early import look
    from pacenote.report import locale

    for one in seen:
        found = look(one)
        if found is not None:
            named = [(locale.text(language, f"phase.{name}").lower(), part) for name, part in found.phases]
            shares = ", ".join(f"{phase} {units.percent(part)}" for phase, part in named)
            text = say(language, "script.early", steps=found.steps, time=units.seconds(found.step_s), phases=shares)
            print(f"pacenote: {text}", file=sys.stderr, flush=True)
            return


def _report(answer: Answer, store: Any, target: str, given: Mapping[str, Any], language: str) -> None:
    from pacenote.cli import present
    from pacenote.cli.output import console
    from pacenote.report import locale

    if answer.study is None:
        text = say(language, f"script.{answer.why_not}", script=target, detail=answer.detail)
        print(f"pacenote: {text}", file=sys.stderr)
        for finding in [] if given["quiet"] else answer.places:
            print(f"pacenote: {locale.text(language, f'finding.{finding.code}', **finding.params)}", file=sys.stderr)
        return
    view = present.load(store, answer.study)
    if not given["quiet"]:
        from pacenote.report import text as report

        console(errors=True).print(*report.render(view, language), sep="\n")
    if given["output"] is not None:
        present.write_page([view], given["output"], language)


def _leave(answer: Answer) -> None:
    code = answer.exit_code
    if not code and answer.study is not None and answer.study.options.get("missing_ranks"):
        code = RANKS_MISSING
    if code:
        raise typer.Exit(code)
