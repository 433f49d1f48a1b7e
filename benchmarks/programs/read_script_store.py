"""What a store holds of the last script: per process its rank, its steps, and where the time went. Prints JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from pacenote.segment import segment
from pacenote.store import Store


def main(path: str) -> None:
    """Print one list with one object per process."""
    found = []
    with Store(Path(path)) as store:
        study = store.get_study("last")
        told = {finding.code for finding in study.findings}
        named = bool(told & {"unattributed_where", "unattributed_place"})
        for record in store.trials(study.id):
            steps = segment(record.events)
            total = float(np.sum(steps.total_s)) or 1.0
            found.append(
                {
                    "rank": record.rank,
                    "framework": record.spec.framework,
                    "segmented": len(steps),
                    "anchor": steps.anchor,
                    "other_share": float(np.sum(steps.phases["other"])) / total,
                    "other_named": named,
                    "phases": {name: float(np.sum(values)) / total for name, values in steps.phases.items()},
                    "evaluation_steps": int(steps.evaluation.sum()),
                    "levers": [
                        {"name": one.name, "applied": one.applied, "observed": one.observed, "reason": one.reason}
                        for one in record.levers
                    ],
                    "step_s": float(np.median(steps.total_s)) if len(steps) else None,
                }
            )
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
