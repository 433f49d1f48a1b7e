"""Makes the golden store of the current schema: ``PYTHONPATH=src:tests python tests/golden/stores/make.py``.

Run it once when SCHEMA_VERSION or STORE_SCHEMA goes up, and keep the older files: a test reads every one of them.
"""

from __future__ import annotations

from pathlib import Path

from fixtures.study import make_study

from pacenote.records import SCHEMA_VERSION
from pacenote.stats import STATISTICS_VERSION
from pacenote.store import Store
from pacenote.store.tables import STORE_SCHEMA


def main() -> None:
    """Write the store beside this file, in one file without a write-ahead log."""
    path = Path(__file__).with_name(f"records-{SCHEMA_VERSION}-tables-{STORE_SCHEMA}.sqlite")
    path.unlink(missing_ok=True)
    made = make_study(name="golden")
    with Store(path) as store:
        study = make_study(name="golden", environment_hash=store.put_environment(made.environment), trial_ids=[]).study
        store.put_study(study)
        for record in made.records:
            store.put_trial(record, study.id)
        for summary in made.summaries:
            store.put_summary(summary.trial_id, STATISTICS_VERSION, summary)
        store.put_calibration("m/pytorch/cpu/t2/fp32", {"gemm_flops": {"fp32": 96.4e9}}, measured_unix_s=1.79e9)
        with store._engine.connect() as connection:
            connection.exec_driver_sql("pragma wal_checkpoint(truncate)")
            connection.exec_driver_sql("pragma journal_mode=delete")


if __name__ == "__main__":
    main()
