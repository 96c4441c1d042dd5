"""Memo keys: everything that decides what a cell makes, in one digest."""

from __future__ import annotations

from collections.abc import Mapping

from alphaswarm_assets.records.canonical import digest_json


def memo_key(
    *,
    asset: str,
    partition: str,
    spec_hash: str | None,
    code_version: str,
    parents: Mapping[str, str | None],
) -> str:
    """Return the memo key of a cell.

    Parameters
    ----------
    asset, partition : str
        The cell.
    spec_hash : str or None
        SHA-256 of the spec; None for what no spec owns.
    code_version : str
        Digest of the sources the asset's stage depends on; not the commit, which would retrain on every change.
    parents : mapping
        Data version of every parent by cell name; None for one that is missing for good.
    """
    return digest_json(
        {
            "schema": "alphaswarm.memo/1",
            "asset": asset,
            "partition": partition,
            "spec_hash": spec_hash,
            "code_version": code_version,
            "parents": dict(parents),
        }
    )
