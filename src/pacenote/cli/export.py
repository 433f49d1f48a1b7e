"""Write a run as a trace that Perfetto (ui.perfetto.dev) and chrome://tracing open.

Rows are the steps, the phases of host and device, and the operators of the steps that were recorded in depth.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pacenote.cli.options import Json, Lang, Run

DEFAULT = Path("pacenote-trace.json")


def command(
    run: Run = "last",
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The trace; packed if it ends in .gz.")
    ] = DEFAULT,
    steps: Annotated[
        int, typer.Option(metavar="N", min=1, help="Only so many of the last steps of each process.")
    ] = 2000,
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """Write the trace of one run."""
    import gzip

    import msgspec

    from pacenote.cli.output import print_json
    from pacenote.cli.words import say
    from pacenote.errors import UsageError
    from pacenote.interchange import chrome
    from pacenote.report.locale import resolve
    from pacenote.store import Store

    language = resolve(lang)
    with Store() as store:
        study = store.get_study(run)
        records = store.trials(study.id)
    trace = chrome.trace(records, last_steps=steps)
    if not trace["traceEvents"]:
        raise UsageError(f"{run}: this run holds no events; nothing was measured in it.")
    raw = msgspec.json.encode(trace)
    path = output.expanduser()
    try:
        path.write_bytes(gzip.compress(raw, 6) if path.suffix == ".gz" else raw)
    except OSError as error:
        raise UsageError(f"{output}: cannot be written ({error.strerror or error}).") from error
    if as_json:
        print_json({"path": str(output), "events": len(trace["traceEvents"]), "run": study.id})
    else:
        print(say(language, "export.written", path=output, count=len(trace["traceEvents"])))
