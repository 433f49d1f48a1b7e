"""The sections of a report, one file each: a pure function from the view to blocks.

A section is found by folder scan (``PART``); third parties add theirs through the entry-point group
``pacenote.sections``. Its title is the locale key ``section.<name>``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pacenote.registry import Registry
from pacenote.report.blocks import Section
from pacenote.report.model import StudyView


@dataclass(frozen=True)
class SectionPart:
    """One section: its name, its place (small first) and how it is made; ``None`` when it has nothing to say."""

    name: str
    place: int
    build: Callable[[StudyView], Section | None]


SECTIONS: Final[Registry[SectionPart]] = Registry("section", "pacenote.report.sections", "pacenote.sections")


def compose(view: StudyView) -> list[Section]:
    """Make every section that has something to say, in order."""
    parts = sorted(SECTIONS, key=lambda part: (part.place, part.name))
    made = (part.build(view) for part in parts)
    return [section for section in made if section is not None]
