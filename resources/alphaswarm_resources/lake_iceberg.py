"""Tables in Iceberg: a catalog in SQLite, files in one folder, every read pinned to a snapshot and to its rows."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from alphaswarm_assets.errors import (
    AlphaSwarmError,
    InvalidInputError,
    MissingArtifactError,
    RefusedError,
    StaleArtifactError,
    StoreError,
)
from alphaswarm_assets.ports import Columns, Lake, TablePin
from alphaswarm_resources.durable import make_folder, what_to_do
from alphaswarm_resources.lake_rows import LakeRows
from alphaswarm_resources.lake_tables import (
    create_table,
    description_of,
    leaving_nothing,
    newest_of,
    rows_at,
    write_rows,
)
from alphaswarm_resources.locks_fs import FileLocks

NAMESPACES = ("bronze", "silver", "gold")
"""Layers of the lake: as received, as cleaned, as used."""

_COMMIT_TRIES = 8


class IcebergLake(Lake):
    """Tables under one folder, partitioned by source.

    A pin names the snapshot that wrote the rows of its source; what other sources write later does not move it. The
    digest of the rows stands in that snapshot, and is computed again whenever they are read.
    """

    def __init__(self, folder: Path) -> None:
        """Use the lake in *folder*, made by `create`; its metadata holds absolute paths, so it stays where it is."""
        self._folder = folder.resolve()
        self._database = self._folder / "catalog.db"
        self._locks = FileLocks(self._folder / "locks")

    def create(self) -> None:
        """Make catalog and namespaces where they are missing; one process at a time, which the caller sees to.

        Raises
        ------
        StoreError
            If they cannot be made.
        """
        with self._storing():
            make_folder(self._folder / "warehouse")
            catalog = self._open(init_catalog_tables="true")
            for namespace in NAMESPACES:
                catalog.create_namespace_if_not_exists(namespace)
            catalog.close()

    def replace(
        self, table: str, *, source: str, rows: Columns, sort_by: Sequence[str]
    ) -> TablePin:
        """Make *rows* the only rows of *source* in *table* and return the pin of the result.

        The table is made by the first write to it. Columns it lacks are added. Writing the rows that are there already
        adds no snapshot; if they no longer verify, they are written anew.

        Raises
        ------
        InvalidInputError
            If *rows* cannot be stored, or a column has another type in the table.
        StoreError
            If the lake cannot be written, or other writers kept getting in first.
        """
        wanted = LakeRows.of(rows, sort_by)
        if table.partition(".")[0] not in NAMESPACES or table.count(".") != 1:
            raise InvalidInputError(
                f"a table must be named <{'|'.join(NAMESPACES)}>.<name>, was {table!r}"
            )
        from pyiceberg.exceptions import CommitFailedException

        with self._locks.hold("write", wait_s=60.0), self._storing():
            for _ in range(_COMMIT_TRIES):
                try:
                    return self._replace(table, source, wanted)
                except CommitFailedException:
                    continue
        raise StoreError(
            f"{table} in {self._folder} could not be written: another writer got in first {_COMMIT_TRIES} times. "
            "Run the same command again"
        )

    def read(self, pin: TablePin, *, source: str) -> Columns:
        """Return the rows of *source* at *pin*, sorted as they were written, verified against its digest.

        Raises
        ------
        MissingArtifactError
            If the table or the snapshot is gone; no other snapshot is read in its place.
        StaleArtifactError
            If the rows are not the ones that were pinned.
        """
        with self._storing():
            return self._rows(self._load(pin.table), pin, source).columns

    def protect(self, pin: TablePin, *, tag: str) -> None:
        """Keep the snapshot of *pin* from expiry under the name *tag*; the same tag never moves to another snapshot.

        Raises
        ------
        MissingArtifactError
            If the table or the snapshot is gone.
        RefusedError
            If *tag* stands for another snapshot.
        """
        with self._locks.hold("write", wait_s=60.0), self._storing():
            table = self._load(pin.table)
            _snapshot(table, pin)
            held = table.refs().get(tag)
            # Iceberg itself would move the tag without a word.
            if held is None:
                table.manage_snapshots().create_tag(pin.snapshot_id, tag).commit()
                held = self._load(pin.table).refs()[tag]
            if held.snapshot_id != pin.snapshot_id:
                raise RefusedError(
                    f"tag {tag!r} of {pin.table} must stand for snapshot {pin.snapshot_id}, was {held.snapshot_id}. "
                    "A tag never moves: protect the new snapshot under another name"
                )

    @cached_property
    def _catalog(self) -> Any:
        if not self._database.is_file():
            raise StoreError(f"there is no lake in {self._folder}. Run: alphaswarm init")
        return self._open(init_catalog_tables="false")

    def _open(self, *, init_catalog_tables: str) -> Any:
        from pyiceberg.catalog.sql import SqlCatalog

        return SqlCatalog(
            "alphaswarm",
            uri=f"sqlite:///{self._database}",
            warehouse=f"file://{self._folder}/warehouse",
            init_catalog_tables=init_catalog_tables,
        )

    def _replace(self, name: str, source: str, wanted: LakeRows) -> TablePin:
        try:
            table = self._load(name)
        except MissingArtifactError:
            table = create_table(self._catalog, name, wanted)
        except StaleArtifactError:
            # What its metadata named cannot be read any more, by nobody: the table begins anew.
            self._catalog.drop_table(name)
            table = create_table(self._catalog, name, wanted)
        held = newest_of(table, name, source)
        if held and held.content_digest == wanted.digest and self._verifies(table, held, source):
            return held
        with leaving_nothing(table):
            write_rows(table, source, wanted)
        written = newest_of(table, name, source)
        if written is None or written.content_digest != wanted.digest:
            raise StoreError(
                f"{name} in {self._folder} took the rows of {source!r} and does not have them"
            )
        return written

    def _rows(self, table: Any, pin: TablePin, source: str) -> LakeRows:
        described = description_of(_snapshot(table, pin), source)
        try:
            rows = rows_at(table, pin.snapshot_id, source, described)
            digest, n_rows = rows.digest, rows.n_rows
        except (OSError, ValueError) as error:
            raise StaleArtifactError(_changed(pin, source, f"unreadable ({error})")) from error
        if (digest, n_rows) != (pin.content_digest, pin.n_rows):
            raise StaleArtifactError(_changed(pin, source, f"{n_rows} rows with digest {digest}"))
        return rows

    def _verifies(self, table: Any, pin: TablePin, source: str) -> bool:
        try:
            self._rows(table, pin, source)
        except StaleArtifactError:
            return False
        return True

    def _load(self, name: str) -> Any:
        from pyiceberg.exceptions import NoSuchTableError

        try:
            return self._catalog.load_table(name)
        except NoSuchTableError:
            raise MissingArtifactError(
                f"no table {name} in {self._folder}. Run the spec again: what is missing will be remade"
            ) from None
        except FileNotFoundError as error:
            raise StaleArtifactError(
                f"the metadata of {name} in {self._folder} is gone ({error.filename or error}). "
                "Restore the files of the lake, or run the spec again: the rows will be written and pinned anew"
            ) from error

    @contextmanager
    def _storing(self) -> Generator[None]:
        from sqlalchemy.exc import SQLAlchemyError

        try:
            yield
        except AlphaSwarmError:
            raise
        except (OSError, SQLAlchemyError) as error:
            raise StoreError(what_to_do("lake", self._folder, error)) from error


def _snapshot(table: Any, pin: TablePin) -> Any:
    # Asked for up front: a scan of a snapshot that is gone fails late, and a reference may have moved.
    snapshot = table.snapshot_by_id(pin.snapshot_id)
    if snapshot is None:
        raise MissingArtifactError(
            f"snapshot {pin.snapshot_id} of {pin.table} is gone: it has expired, or the pin is of another lake. "
            "Run the spec again: the rows will be written and pinned anew"
        )
    return snapshot


def _changed(pin: TablePin, source: str, found: str) -> str:
    return (
        f"snapshot {pin.snapshot_id} of {pin.table} must hold {pin.n_rows} rows of {source!r} with digest "
        f"{pin.content_digest}, was {found}. Restore the files of the lake, or run the spec again: "
        "rows that do not verify are written anew"
    )
