"""Show a run again.

It needs no framework and measures nothing: everything comes from the store.
"""

from __future__ import annotations

from pacenote.cli.options import Json, Lang, Run


def command(run: Run = "last", as_json: Json = False, lang: Lang = None) -> None:
    """Read one run and print it; JSON carries every step."""
    from pacenote.cli import present
    from pacenote.report.locale import resolve
    from pacenote.store import Store

    language = resolve(lang)
    with Store() as store:
        view = present.load(store, store.get_study(run))
    present.answer([view], language, as_json=as_json, series=True)
