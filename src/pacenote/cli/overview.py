"""The page of ``pacenote --help``: drawn here, because typer's own takes twice as long to appear."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.console import Console
from rich.markup import escape

WHAT: Final = "Measures neural-network training on every device of this machine, and says what the numbers can carry."

ROOT_OPTIONS: Final = {
    "--version": "Print the version and exit.",
    "--install-completion": "Install completion for the current shell.",
    "--show-completion": "Show completion for the current shell, to copy it.",
    "-h, --help": "Show this page; after a command, the options of that command.",
}

EXAMPLES: Final = (
    ("pacenote run lenet", "PyTorch and PaddlePaddle on every device here"),
    ("pacenote run lenet --batch-size 32,256", "several values of an axis, compared with the first"),
    ("pacenote report last --output page.html", "the whole study as one page"),
)


def overview(commands: Mapping[str, tuple[str, str]]) -> None:
    """Print what there is; ``commands`` is name → (panel, line)."""
    console = Console(highlight=False)
    console.print(f"[bold]Usage:[/] pacenote COMMAND [OPTIONS]\n\n{WHAT}")
    panels = dict.fromkeys(panel for panel, _ in commands.values())
    for panel in panels:
        _block(console, panel, {name: line for name, (own, line) in commands.items() if own == panel})
    _block(console, "Options", ROOT_OPTIONS)
    _block(console, "Examples", dict(EXAMPLES))
    console.print("\nWithout a command: a short look at this machine and what to type next.")


def _block(console: Console, title: str, lines: Mapping[str, str]) -> None:
    width = max(12, *(len(name) for name in lines))
    console.print(f"\n[bold]{title}[/]")
    for name, line in lines.items():
        console.print(f"  [cyan]{escape(name):<{width}}[/]  {escape(line)}", soft_wrap=True)
