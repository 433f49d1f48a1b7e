"""The tables of the store, in SQLAlchemy Core so that SQLite and PostgreSQL share them.

Columns hold only what is looked up by; the record itself is its canonical JSON in ``body``. Changing a table
means a new :data:`STORE_SCHEMA`; history: 1 = first.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Boolean, Column, Float, Index, Integer, LargeBinary, MetaData, String, Table, Text

STORE_SCHEMA: Final = 1
"""Version of the tables, kept in ``meta`` under ``schema``."""

METADATA: Final = MetaData()

META: Final = Table(
    "meta",
    METADATA,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

ENVIRONMENT: Final = Table(
    "environment",
    METADATA,
    Column("hash", String(32), primary_key=True),
    Column("body", Text, nullable=False),
)

STUDY: Final = Table(
    "study",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("name", Text),
    Column("question", String(64), nullable=False),
    Column("created_unix_s", Float, nullable=False),
    Column("finished", Boolean, nullable=False),
    Column("plan_hash", String(32), nullable=False),
    Column("schema", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Index("study_created", "created_unix_s"),
    Index("study_plan", "plan_hash"),
)

TRIAL: Final = Table(
    "trial",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("spec_hash", String(32), nullable=False),
    Column("environment_hash", String(32), nullable=False),
    Column("replicate", Integer, nullable=False),
    Column("status", String(32), nullable=False),
    Column("started_unix_s", Float, nullable=False),
    Column("version", String(32), nullable=False),
    Column("schema", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Index("trial_spec", "spec_hash", "environment_hash", "replicate"),
)

STUDY_TRIAL: Final = Table(
    "study_trial",
    METADATA,
    Column("study_id", String(32), primary_key=True),
    Column("trial_id", String(32), primary_key=True),
    Column("position", Integer, nullable=False),
)
"""Which trials a study is made of; a trial may serve several studies."""

SERIES: Final = Table(
    "series",
    METADATA,
    Column("trial_id", String(32), primary_key=True),
    Column("name", String(64), primary_key=True),
    Column("coding", String(32), nullable=False),
    Column("data", LargeBinary, nullable=False),
)
"""Raw arrays of a trial; ``coding`` names how ``data`` is packed (see :mod:`pacenote.store.coding`)."""

SUMMARY: Final = Table(
    "summary",
    METADATA,
    Column("trial_id", String(32), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("body", Text, nullable=False),
)
"""Cache of what the statistics of one version made of a trial; may be deleted at any time."""

CALIBRATION: Final = Table(
    "calibration",
    METADATA,
    Column("key", String(255), primary_key=True),
    Column("measured_unix_s", Float, nullable=False),
    Column("body", Text, nullable=False),
)
