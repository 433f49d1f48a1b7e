"""Parts by folder scan and by entry point: broken ones warn, equal names are refused, unknown ones are explained."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pacenote import registry
from pacenote.errors import UnknownNameError, UsageError
from pacenote.registry import DuplicatePartError, Registry

PART = "from types import SimpleNamespace\nPART = SimpleNamespace(name={!r})\n"

Family = Callable[..., Registry[Any]]


@pytest.fixture
def family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Family]:
    """Make a family: built-in modules by their text, plug-ins by what they load to."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made: list[str] = []

    def make(modules: dict[str, str], plugins: dict[str, str] | None = None) -> Registry[Any]:
        package = f"made_up_family_{len(made)}"
        made.append(package)
        folder = tmp_path / package
        folder.mkdir()
        for name, text in {"__init__": "", **modules}.items():
            (folder / f"{name}.py").write_text(text)
        points = [EntryPoint(name, value, "made.up") for name, value in (plugins or {}).items()]
        monkeypatch.setattr(registry, "entry_points", lambda group: EntryPoints(points).select(group=group))
        return Registry("thing", package, "made.up")

    yield make
    for name in [name for name in sys.modules if name.startswith(("made_up_family_", "made_up_plugin"))]:
        del sys.modules[name]


@pytest.fixture
def plugin(tmp_path: Path) -> Callable[[str, str], None]:
    def write(name: str, text: str) -> None:
        (tmp_path / f"{name}.py").write_text(text)

    return write


def test_modules_without_a_part_are_no_parts(family: Family) -> None:
    found = family({"beta": PART.format("b"), "alpha": PART.format("a"), "shared": "X = 1\n", "none": "PART = None\n"})
    assert found.names() == ("a", "b")
    assert [part.name for part in found] == ["a", "b"]
    assert "a" in found
    assert "shared" not in found
    assert 7 not in found
    assert found.warnings == []


def test_nothing_is_loaded_before_it_is_asked_for(family: Family) -> None:
    found = family({"late": "raise RuntimeError('too early')\n"})
    assert found.warnings == []
    with pytest.raises(RuntimeError, match="too early"):  # a broken part of our own is a bug, and shown as one
        found.names()


def test_each_module_is_loaded_once(family: Family) -> None:
    found = family({"a": PART.format("a")})
    assert found.get("a") is found.get("a")


def test_two_built_in_parts_of_one_name_are_refused(family: Family) -> None:
    found = family({"a": PART.format("same"), "b": PART.format("same")})
    with pytest.raises(DuplicatePartError, match="two things are called 'same'"):
        found.get("same")


def test_a_part_may_be_added_once(family: Family) -> None:
    found = family({"a": PART.format("a")})
    found.add(SimpleNamespace(name="b"))
    assert found.names() == ("a", "b")
    with pytest.raises(DuplicatePartError, match="rename one"):
        found.add(SimpleNamespace(name="b"))
    assert found.names() == ("a", "b")


@pytest.mark.parametrize(("name", "hint"), [("lenett", "Did you mean 'lenet'?"), ("zzz", "Known: lenet, simplenet.")])
def test_an_unknown_name_is_answered_with_the_known_ones(family: Family, name: str, hint: str) -> None:
    found = family({"a": PART.format("lenet"), "b": PART.format("simplenet")})
    with pytest.raises(UnknownNameError, match="unknown thing") as caught:
        found.get(name)
    assert hint in str(caught.value)
    assert caught.value.known == ("lenet", "simplenet")
    assert isinstance(caught.value, UsageError)
    assert caught.value.exit_code == 2


def test_an_empty_family_says_that_it_is_empty(family: Family) -> None:
    with pytest.raises(UnknownNameError, match="Known: none"):
        family({}).get("x")


def test_a_plug_in_is_a_part_like_any_other(family: Family, plugin: Callable[[str, str], None]) -> None:
    plugin("made_up_plugin", PART.format("third"))
    found = family({"a": PART.format("a")}, {"third": "made_up_plugin:PART"})
    assert found.names() == ("a", "third")
    assert found.warnings == []


BROKEN = {
    "an import that fails": ("import no_such_module_anywhere\nPART = 1\n", "ModuleNotFoundError"),
    "a syntax error": ("def (:\n", "SyntaxError"),
    "an error while it loads": ("raise ValueError('bad day')\n", "ValueError: bad day"),
    "one that leaves the program": ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
    "no such attribute": ("OTHER = 1\n", "AttributeError"),
    "a part without a name": ("PART = object()\n", "AttributeError"),
    "a name that is no text": ("from types import SimpleNamespace as S\nPART = S(name=7)\n", "TypeError"),
    "no name at all": ("from types import SimpleNamespace as S\nPART = S(name=None)\n", "TypeError"),
    "a taken name": (PART.format("a"), "DuplicatePartError"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_plug_in_is_a_warning_that_names_it(
    family: Family, plugin: Callable[[str, str], None], kind: str
) -> None:
    text, expected = BROKEN[kind]
    plugin("made_up_plugin_broken", text)
    plugin("made_up_plugin_fine", PART.format("fine"))
    found = family({"a": PART.format("a")}, {"bad": "made_up_plugin_broken:PART", "ok": "made_up_plugin_fine:PART"})
    assert found.names() == ("a", "fine")
    (warning,) = found.warnings
    assert warning.startswith("thing plug-in 'bad' was left out: ")
    assert expected in warning
    assert "\n" not in warning or expected == "SyntaxError"


def test_an_interrupt_while_a_plug_in_loads_is_an_interrupt(family: Family, plugin: Callable[[str, str], None]) -> None:
    plugin("made_up_plugin_slow", "raise KeyboardInterrupt\n")
    found = family({}, {"slow": "made_up_plugin_slow:PART"})
    with pytest.raises(KeyboardInterrupt):
        found.names()


def test_of_two_plug_ins_with_one_name_the_first_counts(family: Family, plugin: Callable[[str, str], None]) -> None:
    plugin("made_up_plugin_1", PART.format("same"))
    plugin("made_up_plugin_2", PART.format("same"))
    found = family({}, {"b": "made_up_plugin_2:PART", "a": "made_up_plugin_1:PART"})
    assert found.get("same") is sys.modules["made_up_plugin_1"].PART
    assert "'b'" in found.warnings[0]
