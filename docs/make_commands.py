"""Writes docs/commands.md from the command line itself: ``make docs``. A test fails when the file is out of date."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import typer

from pacenote.cli.main import COMMANDS, build
from pacenote.cli.overview import EXAMPLES, ROOT_OPTIONS

TARGET = Path(__file__).with_name("commands.md")

HEAD = """# Commands

Made from the command line's own help by `make docs`; do not edit.

Every command takes `--json` (one JSON document on stdout), `--lang en|zh` and `--help`. Progress and errors go to stderr.
Exit codes are in [exit-codes.md](exit-codes.md). A RUN is `last`, `last~1`, the beginning of an id, or a name.
"""


def text() -> str:
    """The whole page."""
    parts = [HEAD, _examples(), *(_command(name) for name in COMMANDS)]
    return "\n".join(parts).rstrip() + "\n"


def _examples() -> str:
    lines = [f"- `{command}`: {line}" for command, line in EXAMPLES]
    options = [f"- `pacenote {option}`: {line}" for option, line in ROOT_OPTIONS.items()]
    return "\n".join(
        [
            "## pacenote",
            "",
            "Without a command: a short look at this machine and what to type next.",
            "",
            *options,
            "",
            "Examples:",
            "",
            *lines,
            "",
        ]
    )


def _command(name: str) -> str:
    command: Any = typer.main.get_command(build([name])).commands[name]  # type: ignore[attr-defined]
    context = typer.Context(command, info_name=name)
    usage = " ".join(["pacenote", name, *(_argument(one) for one in command.params if _is_argument(one)), "[OPTIONS]"])
    lines = [f"## {name}", "", f"    {usage}", "", inspect.cleandoc(command.help), ""]
    panels: dict[str, list[str]] = {}
    for parameter in command.get_params(context):
        if getattr(parameter, "hidden", False):
            continue
        panel = getattr(parameter, "rich_help_panel", None) or ("Arguments" if _is_argument(parameter) else "Options")
        panels.setdefault(panel, []).append(_row(parameter))
    for panel, rows in panels.items():
        lines += [f"### {name}: {panel}", "", "| | values | default | |", "|---|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _is_argument(parameter: Any) -> bool:
    return str(parameter.param_type_name) == "argument"


def _argument(parameter: Any) -> str:
    shown = str(parameter.metavar or parameter.name.upper())
    return shown if parameter.required or shown.startswith("[") else f"[{shown}]"


def _row(parameter: Any) -> str:
    metavar = str(parameter.metavar or "")
    if _is_argument(parameter):
        return _cells(f"`{metavar}`", "", parameter.default, parameter.help)
    flag = bool(getattr(parameter, "is_flag", False))
    values = "" if flag else metavar or "number"
    default = None if flag or parameter.default is None else parameter.default
    return _cells(", ".join(f"`{option}`" for option in parameter.opts), values, default, parameter.help)


def _cells(option: str, values: str, default: object, line: str | None) -> str:
    shown = "" if default is None or callable(default) else f"`{default}`"
    cells = (option, values.replace("|", " \\| "), shown, (line or "").replace("|", "\\|"))
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
