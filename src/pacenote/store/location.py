"""Where the store is, how it is opened, and what its failures are called."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from pacenote.errors import MissingPartError, StoreError

VARIABLE: Final = "PACENOTE_STORE"
"""Environment variable with a path or a database URL."""

BUSY_TIMEOUT_S: Final = 10.0
"""How long a write waits for another Pacenote's write; one takes milliseconds, so ten seconds means stuck."""

# SQLite's own words → ours. The first that occurs in the text wins.
_SAYINGS: Final = (
    ("locked", "is locked by another program; try again when that has finished"),
    ("readonly", "is read-only; set {variable} to a place you may write to"),
    ("read-only", "is read-only; set {variable} to a place you may write to"),
    ("disk is full", "cannot grow: the disk is full; free some space or set {variable} to another disk"),
    ("disk i/o error", "cannot be written: the disk failed; check it or set {variable} to another one"),
    ("not a database", "is not a Pacenote store; move the file away or set {variable} to another path"),
    ("malformed", "is damaged; move the file away or restore it from a backup"),
    ("unable to open", "cannot be opened; check the folder and its permissions, or set {variable}"),
)


def default_location(environ: Mapping[str, str] | None = None) -> str:
    """Return the path or URL of the user's store: ``PACENOTE_STORE``, else the user's data folder."""
    named = (os.environ if environ is None else environ).get(VARIABLE, "")
    if named:
        return named
    from platformdirs import user_data_path

    return str(user_data_path("pacenote", appauthor=False) / "store.sqlite")


def resolve(where: str | Path | None) -> URL:
    """Turn a path, a URL or ``None`` (the user's store) into a database URL; makes the folder of a file.

    Raises:
        StoreError: If the URL cannot be read or the folder cannot be made.
    """
    text = default_location() if where is None else str(where)
    if "://" not in text:
        path = Path(text).expanduser().absolute()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise StoreError(f"the store's folder {path.parent} cannot be made: {reason}.") from error
        return URL.create("sqlite", database=str(path))
    try:
        url = make_url(text)
    except ArgumentError as error:
        raise StoreError(f"{VARIABLE} must be a path or a database URL like postgresql://host/name.") from error
    # psycopg 3 is what the extra installs; SQLAlchemy's own default is psycopg 2.
    return url.set(drivername="postgresql+psycopg") if url.drivername in {"postgres", "postgresql"} else url


def open_engine(url: URL) -> Engine:
    """Make the engine; nothing is opened yet.

    Raises:
        MissingPartError: If the driver of another database is not installed.
        StoreError: If the kind of database is unknown.
    """
    sqlite = url.get_backend_name() == "sqlite"
    try:
        engine = create_engine(url, connect_args={"timeout": BUSY_TIMEOUT_S} if sqlite else {})
    except ModuleNotFoundError as error:
        raise MissingPartError("a PostgreSQL store needs: pip install 'pacenote[postgres]'.") from error
    except NoSuchModuleError as error:
        raise StoreError(f"no store in {url.drivername!r}; use a path or postgresql://.") from error
    if sqlite:
        event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:
    """Let readers and a writer work at once (write-ahead log); a crash of ours then never tears a record."""
    cursor = connection.cursor()
    try:
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=FULL")
    finally:
        cursor.close()


def describe(url: URL, error: SQLAlchemyError | OSError) -> StoreError:
    """Put a database failure in one line that says what to do."""
    place = url.database if url.get_backend_name() == "sqlite" else url.render_as_string(hide_password=True)
    raw = str(getattr(error, "orig", None) or error)
    for sign, saying in _SAYINGS:
        if sign in raw.lower():
            return StoreError(f"the store {place} {saying.format(variable=VARIABLE)}.")
    first = raw.strip().splitlines()[0] if raw.strip() else type(error).__name__
    return StoreError(f"the store {place} failed: {first}.")
