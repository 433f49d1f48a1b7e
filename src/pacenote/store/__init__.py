"""The store: every record the moment it exists, found again by id, by ``last`` or by name.

SQLite in the user's data folder by default; the same code serves PostgreSQL. Each method is one transaction:
after it returns the record survives a crash, and a failure leaves what was there before.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection, Table, delete, func, insert, select
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.schema import CreateIndex, CreateTable

from pacenote.errors import SchemaError, StoreError
from pacenote.records import SCHEMA_VERSION, Environment, EventLog, Study, TrialRecord
from pacenote.store import coding, reference, tables
from pacenote.store.location import VARIABLE, default_location, describe, open_engine, resolve
from pacenote.store.reference import short_ids

__all__ = ["VARIABLE", "Store", "default_location", "short_ids"]

T = TypeVar("T")

_TRIAL_COLUMNS = (
    *("id", "spec_hash", "environment_hash", "replicate"),
    *("started_unix_s", "version", "schema"),
)
_STUDY_COLUMNS = ("id", "name", "question", "created_unix_s", "finished", "plan_hash", "schema")


class Store:
    """All records of one user.

    Args:
        where: A path, a database URL, or ``None`` for ``PACENOTE_STORE`` or the user's data folder.

    Raises:
        StoreError: If it cannot be opened.
        SchemaError: If a newer Pacenote wrote it.
    """

    def __init__(self, where: str | Path | None = None) -> None:
        self._url = resolve(where)
        self._engine = open_engine(self._url)
        with self._transaction() as connection:
            _create_tables(connection)

    @property
    def place(self) -> str:
        """Where the store is, without a password."""
        if self._url.get_backend_name() == "sqlite":
            return str(self._url.database)
        return self._url.render_as_string(hide_password=True)

    def close(self) -> None:
        """Give back the connections; the store cannot be used afterwards."""
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    # Environments

    def put_environment(self, environment: Environment) -> str:
        """Keep an environment once and return its hash."""
        key = environment.hash()
        with self._transaction() as connection:
            if not _exists(connection, tables.ENVIRONMENT, hash=key):
                _insert_unless_there(connection, tables.ENVIRONMENT, hash=key, body=_encode(environment))
        return key

    def get_environment(self, key: str) -> Environment | None:
        """Return the environment with this hash, or ``None``."""
        table = tables.ENVIRONMENT
        with self._transaction() as connection:
            body = connection.scalar(select(table.c.body).where(table.c.hash == key))
        return None if body is None else _decode(body, Environment, f"environment {key}")

    # Trials

    def put_trial(self, record: TrialRecord, study_id: str | None = None) -> None:
        """Keep a trial with its raw events; with ``study_id`` it joins that study in the same transaction."""
        table = tables.TRIAL
        bare = msgspec.structs.replace(record, events=EventLog(objects=record.events.objects))
        columns = {name: getattr(record, name) for name in _TRIAL_COLUMNS}
        columns |= {"status": record.outcome.status.value, "body": _encode(bare)}
        with self._transaction() as connection:
            connection.execute(delete(table).where(table.c.id == record.id))
            connection.execute(insert(table).values(**columns))
            _put_series(connection, record)
            if study_id is not None:
                _link(connection, study_id, [record.id])

    def get_trial(self, trial_id: str, *, events: bool = True) -> TrialRecord | None:
        """Return one trial, or ``None``; without ``events`` its raw event arrays are left empty."""
        table = tables.TRIAL
        query = select(table.c.id, table.c.schema, table.c.body).where(table.c.id == trial_id)
        with self._transaction() as connection:
            row = connection.execute(query).first()
            return None if row is None else _read_trial(connection, row, events)

    def trials(self, study_id: str, *, events: bool = True) -> list[TrialRecord]:
        """Return the trials of a study in the order they joined it."""
        table, link = tables.TRIAL, tables.STUDY_TRIAL
        query = (
            select(table.c.id, table.c.schema, table.c.body)
            .join(link, link.c.trial_id == table.c.id)
            .where(link.c.study_id == study_id)
            .order_by(link.c.position, table.c.id)
        )
        with self._transaction() as connection:
            return [_read_trial(connection, row, events) for row in connection.execute(query).all()]

    # Studies

    def put_study(self, study: Study) -> None:
        """Keep a study, replacing its earlier state; trials that joined it meanwhile stay in it."""
        table = tables.STUDY
        columns = {name: getattr(study, name) for name in _STUDY_COLUMNS}
        with self._transaction() as connection:
            connection.execute(delete(table).where(table.c.id == study.id))
            connection.execute(insert(table).values(**columns, body=_encode(study)))
            _link(connection, study.id, study.trial_ids)

    def get_study(self, ref: str = "last") -> Study:
        """Return the study that ``ref`` names: ``last``, ``last~1``, an id or its prefix, or a name.

        Raises:
            UnknownNameError: If nothing matches; the message lists what would.
            UsageError: If an id prefix fits several studies.
        """
        with self._transaction() as connection:
            study_id = reference.find(connection, ref)
            row = connection.execute(select(tables.STUDY).where(tables.STUDY.c.id == study_id)).one()
            return _read_study(connection, row)

    def studies(self, limit: int | None = 20, *, name: str | None = None, question: str | None = None) -> list[Study]:
        """Return studies, newest first; ``limit=None`` means all of them."""
        table = tables.STUDY
        query = select(table).order_by(table.c.created_unix_s.desc(), table.c.id.desc()).limit(limit)
        if name is not None:
            query = query.where(table.c.name == name)
        if question is not None:
            query = query.where(table.c.question == question)
        with self._transaction() as connection:
            return [_read_study(connection, row) for row in connection.execute(query).all()]

    def unfinished(self, plan_hash: str) -> Study | None:
        """Return the newest study of this plan that did not finish, or ``None``."""
        table = tables.STUDY
        query = (
            select(table)
            .where(table.c.plan_hash == plan_hash, table.c.finished.is_(False))
            .order_by(table.c.created_unix_s.desc(), table.c.id.desc())
            .limit(1)
        )
        with self._transaction() as connection:
            row = connection.execute(query).first()
            return None if row is None else _read_study(connection, row)

    # Caches

    def summary(self, trial_id: str, version: int) -> dict[str, Any] | None:
        """Return the cached summary of a trial made by statistics ``version``, or ``None``."""
        table = tables.SUMMARY
        query = select(table.c.body).where(table.c.trial_id == trial_id, table.c.version == version)
        with self._transaction() as connection:
            body = connection.scalar(query)
        return None if body is None else _decode(body, dict[str, Any], f"summary of {trial_id}")

    def put_summary(self, trial_id: str, version: int, summary: msgspec.Struct | dict[str, Any]) -> None:
        """Cache the summary of a trial."""
        table = tables.SUMMARY
        with self._transaction() as connection:
            connection.execute(delete(table).where(table.c.trial_id == trial_id, table.c.version == version))
            row = {"trial_id": trial_id, "version": version, "body": _encode(summary)}
            _insert_unless_there(connection, table, **row)

    def get_calibration(self, key: str, max_age_s: float | None = None) -> dict[str, Any] | None:
        """Return the ceilings kept under ``key``, or ``None`` if there are none that young."""
        table = tables.CALIBRATION
        query = select(table.c.measured_unix_s, table.c.body).where(table.c.key == key)
        with self._transaction() as connection:
            row = connection.execute(query).first()
        if row is None or (max_age_s is not None and time.time() - row.measured_unix_s > max_age_s):
            return None
        return _decode(row.body, dict[str, Any], f"calibration {key}")

    def calibrations(self) -> list[dict[str, Any]]:
        """Return every kept calibration, newest first: ``key``, ``measured_unix_s``, ``ceilings``."""
        query = select(tables.CALIBRATION).order_by(tables.CALIBRATION.c.measured_unix_s.desc())
        with self._transaction() as connection:
            rows = connection.execute(query).all()
        return [
            {
                "key": row.key,
                "measured_unix_s": row.measured_unix_s,
                "ceilings": _decode(row.body, dict[str, Any], f"calibration {row.key}"),
            }
            for row in rows
        ]

    def put_calibration(self, key: str, ceilings: dict[str, Any], measured_unix_s: float | None = None) -> None:
        """Keep measured ceilings under a key that names machine, framework, device, threads and dtype."""
        table = tables.CALIBRATION
        moment = time.time() if measured_unix_s is None else measured_unix_s
        with self._transaction() as connection:
            connection.execute(delete(table).where(table.c.key == key))
            _insert_unless_there(connection, table, key=key, measured_unix_s=moment, body=_encode(ceilings))

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """One connection, committed at the end, with every database failure as one line."""
        try:
            with self._engine.begin() as connection:
                yield connection
        except (SQLAlchemyError, OSError) as error:
            raise describe(self._url, error) from error


def _create_tables(connection: Connection) -> None:
    """Make what is missing and refuse tables of a newer version. Two processes may do this at once."""
    for table in tables.METADATA.sorted_tables:
        connection.execute(CreateTable(table, if_not_exists=True))
        for index in sorted(table.indexes, key=lambda found: str(found.name)):
            connection.execute(CreateIndex(index, if_not_exists=True))
    query = select(tables.META.c.value).where(tables.META.c.key == "schema")
    found = connection.scalar(query)
    if found is None:
        _insert_unless_there(connection, tables.META, key="schema", value=str(tables.STORE_SCHEMA))
        found = connection.scalar(query)  # where another process was faster, its version counts
    if found is None or not str(found).isdecimal():
        raise SchemaError(f"the store's version {str(found)!r} cannot be read; restore the store from a backup.")
    if int(found) > tables.STORE_SCHEMA:
        raise SchemaError(
            f"the store was written by a newer Pacenote (tables {found}, this version reads up to "
            f"{tables.STORE_SCHEMA}); upgrade with: pip install -U pacenote."
        )


def _exists(connection: Connection, table: Table, **key: str) -> bool:
    query = select(func.count()).select_from(table)
    for name, value in key.items():
        query = query.where(table.c[name] == value)
    return bool(connection.scalar(query))


def _insert_unless_there(connection: Connection, table: Table, **row: Any) -> None:
    """Insert a row that another process may be inserting at this moment; then that one stays."""
    try:
        with connection.begin_nested():
            connection.execute(insert(table).values(**row))
    except IntegrityError:
        return


def _put_series(connection: Connection, record: TrialRecord) -> None:
    table = tables.SERIES
    connection.execute(delete(table).where(table.c.trial_id == record.id))
    for name, raw in (("t_ns", record.events.t_ns), ("code", record.events.code)):
        if raw:
            row = {"trial_id": record.id, "name": name, "coding": coding.CODING, "data": coding.pack(raw)}
            connection.execute(insert(table).values(**row))


def _link(connection: Connection, study_id: str, trial_ids: Sequence[str]) -> None:
    """Add trials to a study behind those it has."""
    table = tables.STUDY_TRIAL
    query = select(table.c.trial_id, table.c.position).where(table.c.study_id == study_id)
    known = connection.execute(query).all()
    seen = {row.trial_id for row in known}
    position = 1 + max((row.position for row in known), default=-1)
    for trial_id in trial_ids:
        if trial_id not in seen:
            connection.execute(insert(table).values(study_id=study_id, trial_id=trial_id, position=position))
            seen.add(trial_id)
            position += 1


def _read_trial(connection: Connection, row: Any, events: bool) -> TrialRecord:
    _check_schema(row.schema, f"trial {row.id}")
    record = _decode(row.body, TrialRecord, f"trial {row.id}")
    if not events:
        return record
    found = connection.execute(select(tables.SERIES).where(tables.SERIES.c.trial_id == row.id)).all()
    raw = {series.name: coding.unpack(series.data, series.coding) for series in found}
    log = EventLog(t_ns=raw.get("t_ns", b""), code=raw.get("code", b""), objects=record.events.objects)
    return msgspec.structs.replace(record, events=log)


def _read_study(connection: Connection, row: Any) -> Study:
    _check_schema(row.schema, f"study {row.id}")
    link = tables.STUDY_TRIAL
    query = select(link.c.trial_id).where(link.c.study_id == row.id).order_by(link.c.position)
    study = _decode(row.body, Study, f"study {row.id}")
    return msgspec.structs.replace(study, trial_ids=list(connection.scalars(query)))


def _check_schema(schema: int, what: str) -> None:
    if schema > SCHEMA_VERSION:
        raise SchemaError(
            f"{what} was written by a newer Pacenote (schema {schema}, this version reads up to "
            f"{SCHEMA_VERSION}); upgrade with: pip install -U pacenote."
        )


def _encode(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError) as error:
        raise StoreError(f"a {type(value).__name__} holds a value that cannot be stored: {error}.") from error


def _decode(body: str, kind: type[T], what: str) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise SchemaError(f"{what} cannot be read: {error}.") from error
