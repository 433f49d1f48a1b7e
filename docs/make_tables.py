"""Writes the pages that list parts, from the parts themselves: ``make docs``. A test fails when one is out of date."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from pacenote import errors
from pacenote.advise import codes as advice_codes
from pacenote.advise.bill import FORMULAS
from pacenote.catalog import prices
from pacenote.child import workloads
from pacenote.cli.main import INTERRUPTED
from pacenote.findings import codes
from pacenote.findings.health import CHECKS
from pacenote.levers import LEVERS
from pacenote.report import locale

FOLDER: Final = Path(__file__).parent
MADE: Final = "Made from the code by `make docs`; do not edit.\n"

RISKS: Final = {
    "none": "changes nothing but speed",
    "numerics": "changes rounding",
    "training": "changes what is learned",
}


def levers() -> str:
    """Every lever: option, values, what it does, what it may change, where it applies."""
    parts = [
        "# Levers\n",
        MADE,
        "A lever is an axis of a sweep: something about a training that is changed from outside. Give one value, or several",
        "(`--batch-size 32,256`) to compare each with the first. A lever counts as applied only when it was *seen* to have",
        "taken effect; otherwise the report says so, and no ratio along it is printed.\n",
        "Times are compared per sample, so batches may differ.\n",
    ]
    for lever in LEVERS:
        where = [name for name in workloads.names() if lever.name in workloads.find(name).axes]
        where += ["scripts"] if lever.outside else []
        parts += [
            f"## {lever.name}\n",
            f"`{lever.option}`: {_paragraphs(type(lever))}\n",
            f"- values: {', '.join(f'`{value}`' for value in lever.choices) or 'a number'}",
            f"- risk: {RISKS[lever.risk]}",
            f"- applies to: {', '.join(f'`{name}`' for name in where)}\n",
        ]
    return "\n".join(parts)


def findings() -> str:
    """Every code a finding can carry, with its parameters and its words."""
    groups: dict[str, Mapping[str, tuple[str, ...]]] = {
        "Verdict": codes.VERDICT,
        "Comparison": codes.COMPARISON,
        "The study as a whole": codes.STUDY,
        "A script as a whole": codes.SCRIPT,
        "The text of a script": codes.SOURCE,
        "One condition": codes.CELLS,
        "Self-test": codes.SELFTEST,
    }
    parts = [
        "# Findings\n",
        MADE,
        "A finding is a code with parameters; the words stand in the report only. Parameters carry their unit in the name.",
        "`--json` gives code, severity, subject, parameters and, in the language asked for, the sentence.\n",
        "## Health\n",
        "What can be wrong with the conditions of a measurement. An *unhealthy* condition gets no ratio (unless `--force`,",
        "and then it is marked); a *warning* weakens a figure. Each threshold stands in its file under",
        "`src/pacenote/findings/health/`, with the reason beside it.\n",
    ]
    parts += [_finding(check.name, codes.HEALTH[check.name], _paragraphs(type(check))) for check in CHECKS]
    for title, group in groups.items():
        parts.append(f"## {title}\n")
        parts += [_finding(code, parameters) for code, parameters in group.items()]
    return "\n".join(parts)


def advice() -> str:
    """Every code that advice can carry, the lines of a bill, and the providers whose prices ship."""
    groups = {
        "Verdicts": advice_codes.VERDICTS,
        "Reasons": advice_codes.REASONS,
        "Why a candidate cannot be taken": advice_codes.PROBLEMS,
        "Why it stands behind the safe ones": advice_codes.DOUBTS,
        "What to know before it is taken": advice_codes.CAUTIONS,
    }
    parts = [
        "# Advice\n",
        MADE,
        "`pacenote advise RUN --candidates FILE` compares the machine of a stored run with what stands in the file, and says",
        "which to take, for how long and for how much; or it says honestly why nothing can be recommended. `--json` carries",
        "codes with parameters and, in the language asked for, their sentences.\n",
        "Three rules hold everywhere. A step takes the longer of device and loader, so a fast card behind a slow loader costs",
        "what the loader costs. A candidate that keeps a limit only at its estimate stands behind those that keep it at the",
        "bad end of their intervals. A figure that no source has leaves a candidate out, with the figure named.\n",
        "## The file of candidates\n",
        *_candidates(),
        "## Lines of a bill\n",
        "| line | formula |",
        "|---|---|",
        *(f"| {locale.template('en', f'line.{code}')} | `{formula}` |" for code, formula in FORMULAS.items()),
        "",
        "Spare capacity: the expected time with interruptions at random is that of J. T. Daly (2006), restarts and lost work",
        "included. Where nobody states how a provider rounds, the high end is rounded up to a whole hour.\n",
        "## Providers in the table of prices\n",
        "| provider | offers | read | rounding |",
        "|---|---|---|---|",
        *_providers(),
        "",
        "`pacenote prices show OFFER` names the source of each figure. Your own prices (`pacenote prices add FILE`) come",
        "before fetched ones (`pacenote prices update`), and these before the table that ships.\n",
    ]
    for title, group in groups.items():
        parts.append(f"## {title}\n")
        parts += [_advice(code, parameters) for code, parameters in group.items()]
    return "\n".join(parts)


def _candidates() -> list[str]:
    from pacenote.cli import candidates

    text = (inspect.getdoc(candidates) or "").partition("\n\n")[2]
    rows = [f"`{field.name}`" for field in msgspec.structs.fields(candidates.Row)]
    return [text.replace("::\n", ":\n").replace("``", "`"), "", f"Keys of a candidate: {', '.join(rows)}.\n"]


def _providers() -> list[str]:
    offers = prices.shipped()
    rows = []
    for provider in dict.fromkeys(offer.provider for offer in offers):
        own = [offer for offer in offers if offer.provider == provider]
        days = sorted({offer.read_on or "no date" for offer in own})
        terms = prices.terms(provider)
        step = "not stated" if terms.granularity_s is None else f"{terms.granularity_s:g} s"
        least = f", at least {terms.minimum_s:g} s" if terms.minimum_s else ""
        rows.append(f"| {provider} | {len(own)} | {', '.join(days)} | {step}{least} |")
    return rows


def _advice(code: str, parameters: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{name}`" for name in parameters) or "none"
    return f"### {code}\n\n> {locale.template('en', f'advice.{code}')}\n\nParameters: {shown}\n"


def exit_codes() -> str:
    """The table of exit codes, from the error classes."""
    rows = {0: ("", "The answer is on stdout.")}
    for error in _tree(errors.PacenoteError):
        rows.setdefault(error.exit_code, (error.__name__, _paragraphs(error).partition("\n")[0]))
    rows[errors.RefusedError.exit_code] = (
        errors.RefusedError.__name__,
        "`compare`: every ratio was refused, because a side was unhealthy. The answer, with the reasons, is on stdout.",
    )
    rows[errors.PacenoteError.exit_code] = (
        "",
        "Something unexpected; the line on stderr names a file with the details.",
    )
    rows[INTERRUPTED] = ("", "Interrupted (Ctrl-C). What was finished is kept; the same command goes on from there.")
    parts = [
        "# Exit codes\n",
        MADE,
        "Whatever goes wrong is one line on stderr and one of these codes. stdout then holds nothing, except for 6",
        "and after an interrupt: what had been finished is shown.\n",
        "| code | error | meaning |",
        "|---|---|---|",
        *(f"| {code} | {f'`{name}`' if name else ''} | {line} |" for code, (name, line) in sorted(rows.items())),
        "",
        "A sweep in which some trials fail ends with 0: the failures are findings of the study. Only a study without any",
        "finished trial ends with 5 (or with 3 or 7 when the reason was a missing part or unusable data).",
        "",
        "`pacenote run train.py` ends with the script's own code (128 + the signal that ended it), and with 5 when the script",
        "ended well but a rank that was expected left no events.",
    ]
    return "\n".join(parts)


PAGES: Final[dict[str, Callable[[], str]]] = {
    "levers.md": levers,
    "findings.md": findings,
    "advice.md": advice,
    "exit-codes.md": exit_codes,
}


def _finding(code: str, parameters: tuple[str, ...], more: str = "") -> str:
    lines = [f"### {code}\n"]
    if more:
        lines.append(f"{more}\n")
    for key in (f"finding.{code}", f"fix.{code}"):
        if locale.has(key):
            lines.append(f"> {locale.template('en', key)}\n")
    shown = ", ".join(f"`{name}`" for name in parameters) or "none"
    return "\n".join([*lines, f"Parameters: {shown}\n"])


def _paragraphs(kind: type) -> str:
    """What a class says of itself, without the list of its attributes."""
    text = inspect.getdoc(kind) or ""
    return text.partition("\n\nAttributes:")[0].partition("\n\nArgs:")[0]


def _tree(kind: type[errors.PacenoteError]) -> list[type[errors.PacenoteError]]:
    """The error classes of errors.py, roots first."""
    own = [error for error in kind.__subclasses__() if error.__module__ == errors.__name__]
    return [kind, *(inner for error in own for inner in _tree(error))]


def main() -> int:
    """Write every page."""
    for name, make in PAGES.items():
        (FOLDER / name).write_text(make().rstrip() + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
