"""The documentation mentions everything there is, and the made pages are up to date."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer

from pacenote import workload_index
from pacenote.advise.codes import CODES as ADVICE
from pacenote.cli.main import COMMANDS, INTERRUPTED, build
from pacenote.findings import CODES
from pacenote.levers import LEVERS
from pacenote.records import ColdStart, Counters, Memory, Sensors
from pacenote.segment import PHASES
from pacenote.stats import TrialSummary
from pacenote.units import SUFFIX_UNITS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.glob("*.md")), ROOT / "README.md", ROOT / "README.zh-CN.md", ROOT / "CHANGELOG.md"]

# Every option of every command. A new one is a decision: write it here, and `make docs`.
OPTIONS = {
    "run": (
        "--allocator --batch-size --compile --cudnn-benchmark --data --data-fn --data-mode --depth --device --dry-run "
        "--dtype --force --framework --fresh --fused-optimizer --help --json --lang --loader-workers --memory-format "
        "--module --name --non-blocking --operators --output --persistent-workers --pin-memory --pipeline --plan "
        "--prefetch --python --quiet --rounds --seconds --seed --steps --threads --time-budget --waiting-policy "
        "--width --within"
    ),
    "compare": "--force --help --json --lang --output",
    "report": "--help --json --lang --output",
    "doctor": "--help --json --lang --python",
    "export": "--help --json --lang --output --steps",
    "import": "--help --json --lang --name --output",
    "runs": "--all --help --json --lang --limit",
    "advise": (
        "--candidates --currency --deadline --epochs --force --goal --grid --help --hour-worth --jobs-per-month --json "
        "--lang --latency-limit --money --region --resumable --samples --team"
    ),
    "prices": "--currency --help --json --lang",
    "show": "--help --json --lang",
    "selftest": "--framework --help --json --lang --output --python --quiet --time-budget",
}


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def options_of(name: str) -> set[str]:
    command: Any = typer.main.get_command(build([name])).commands[name]  # type: ignore[attr-defined]
    context = typer.Context(command, info_name=name)
    parameters = command.get_params(context)
    return {option for one in parameters for option in one.opts if option.startswith("--")}


def test_the_page_of_commands_is_up_to_date() -> None:
    assert page("commands.md") == script("make_commands").text(), "run: make docs"


@pytest.mark.parametrize("name", ["levers.md", "findings.md", "advice.md", "exit-codes.md"])
def test_the_pages_of_parts_are_up_to_date(name: str) -> None:
    assert page(name) == script("make_tables").PAGES[name]().rstrip() + "\n", "run: make docs"


def test_no_option_comes_or_goes_unnoticed() -> None:
    assert {name: options_of(name) for name in COMMANDS} == {name: set(text.split()) for name, text in OPTIONS.items()}


def test_every_command_and_option_is_documented() -> None:
    text = page("commands.md")
    for name in COMMANDS:
        own = text[text.index(f"\n## {name}\n") :].partition("\n## ")[2].partition("\n## ")[0]
        for option in options_of(name):
            assert f"`{option}`" in own, f"{name} {option}"


def test_every_workload_and_data_mode_is_documented() -> None:
    text = page("workloads.md")
    for name in workload_index.names():
        workload = workload_index.find(name)
        assert f"`{name}`" in text
        for mode in workload.data_modes:
            assert f"`{mode}`" in text
        if name in ("lenet", "simplenet"):
            assert f"{workload.parameters({}):,}" in text


def test_every_lever_is_documented() -> None:
    text = page("levers.md")
    for lever in LEVERS:
        assert f"## {lever.name}\n" in text
        assert f"`{lever.option}`" in text


def test_every_code_of_advice_is_documented() -> None:
    text = page("advice.md")
    for code, parameters in ADVICE.items():
        own = text[text.index(f"\n### {code}\n") + 1 :].partition("\n### ")[0]
        for parameter in parameters:
            assert f"`{parameter}`" in own, f"{code} {parameter}"


def test_every_finding_is_documented() -> None:
    text = page("findings.md")
    for code, parameters in CODES.items():
        own = text[text.index(f"\n### {code}\n") + 1 :].partition("\n### ")[0]
        for parameter in parameters:
            assert f"`{parameter}`" in own, f"{code} {parameter}"


@pytest.mark.parametrize("kind", [Memory, Sensors, ColdStart, Counters, TrialSummary], ids=lambda kind: kind.__name__)
def test_every_metric_is_documented(kind: Any) -> None:
    text = page("metrics.md")
    for name in kind.__struct_fields__:
        if name not in ("trial_id", "round"):
            assert f"`{name}`" in text, name


def test_every_phase_and_unit_is_documented() -> None:
    text = page("metrics.md")
    for phase in PHASES:
        assert f"`{phase}`" in text
    for suffix in SUFFIX_UNITS:
        assert f"`{suffix}`" in text, suffix


def test_every_exit_code_is_documented() -> None:
    from pacenote import errors

    text = page("exit-codes.md")
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    codes = {kind.exit_code for kind in kinds if issubclass(kind, errors.PacenoteError)}
    for code in {0, INTERRUPTED, *codes}:
        assert f"| {code} |" in text


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_between_pages_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_commands_in_the_pages_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for name, whole in re.findall(r"(?m)(?:^ {4}|`)pacenote ([a-z]+)([^`\n]*)", text):
        rest = whole.partition(" -- ")[0]  # what follows is a script's own
        assert name in COMMANDS, name
        for option in re.findall(r"(?<![\w-])--[a-z-]+", rest):
            assert option in options_of(name), f"pacenote {name} {option}"


def test_every_page_is_reached_from_the_readme() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in DOCS.glob("*.md") if f"docs/{path.name}" not in text] == []


def test_the_makefile_says_what_it_makes() -> None:
    shown = subprocess.run(["make", "-C", str(ROOT)], check=True, capture_output=True, text=True).stdout
    for target in ("demo", "test", "lint", "bench", "bench-status", "docs"):
        assert f"make {target} " in shown


@pytest.mark.skipif(not (ROOT / "results" / "articles.json").exists(), reason="results/articles.json has not been made")
def test_the_articles_tables_are_those_of_the_result() -> None:
    spec = importlib.util.spec_from_file_location("make_articles", DOCS / "make_articles.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for path, content in module.outputs().items():
        assert path.read_text(encoding="utf-8") == content, f"run: python docs/make_articles.py ({path.name})"
