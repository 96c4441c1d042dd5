"""Code versions: a digest of exactly the sources that decide what an asset makes.

The sources are found by following the imports of the asset's root modules. Descriptions (``specs``, ``ports``,
``errors``, ``arrays``) are left out unless a root: what they say reaches a result through the spec's hash, which covers
every field. ``specs.dataset`` is a root where its table of features, which no hash covers, decides the columns made.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from alphaswarm_assets.errors import InvalidInputError

_OURS = ("alphaswarm_assets", "alphaswarm_resources", "alphaswarm_kernels")
_DESCRIPTIONS = tuple(
    f"alphaswarm_assets.{room}" for room in ("specs", "ports", "errors", "arrays")
)

ROOTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "bronze_bars": ("alphaswarm_assets.markets.tables", "alphaswarm_resources.bars_bokeh"),
        "silver_bars": ("alphaswarm_assets.markets.bars",),
        "gold_features": (
            "alphaswarm_assets.markets.features",
            "alphaswarm_assets.specs.dataset",
        ),
        "research_dataset": (
            "alphaswarm_assets.runtime.collecting",
            "alphaswarm_assets.specs.dataset",
        ),
        "trained_checkpoint": ("alphaswarm_assets.runtime.training",),
        "evaluation_report": ("alphaswarm_assets.runtime.evaluating",),
        "evaluation_summary": ("alphaswarm_assets.runtime.summarising",),
        "promotion_verdict": ("alphaswarm_assets.runtime.judging",),
        "registered_model": ("alphaswarm_assets.runtime.registering",),
        "paper_pack": ("alphaswarm_assets.runtime.rehearsing",),
    }
)
"""Root modules of every asset."""

LIBRARIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "gold_features": ("numpy",),
        "research_dataset": ("numpy", "safetensors"),
        "trained_checkpoint": ("numpy", "torch", "safetensors"),
        "evaluation_report": ("numpy", "safetensors"),
        "evaluation_summary": ("numpy",),
        "paper_pack": ("numpy",),
    }
)
"""Libraries whose version decides the bytes an asset makes; remaking equal bytes moves nothing below."""


@cache
def code_version(asset: str) -> str:
    """Return the code version of *asset*, 16 hex digits, as it was when this process first asked for it.

    Raises
    ------
    InvalidInputError
        If the asset has no roots.
    """
    return code_version_now(asset)


def code_version_now(asset: str) -> str:
    """Return the code version of *asset* from its sources as they are at this moment.

    Raises
    ------
    InvalidInputError
        If the asset has no roots.
    """
    if asset not in ROOTS:
        raise InvalidInputError(
            f"no sources are known for asset {asset!r}; add its roots to drive.code.ROOTS"
        )
    digest = hashlib.sha256()
    for module, path in sorted(closure(ROOTS[asset]).items()):
        digest.update(f"{module}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    for library in LIBRARIES.get(asset, ()):
        digest.update(f"{library}=={metadata.version(library)}\0".encode())
    return digest.hexdigest()[:16]


def closure(roots: tuple[str, ...]) -> dict[str, Path]:
    """Return the source file of every module of ours that *roots* reach by import, descriptions left out.

    Raises
    ------
    InvalidInputError
        If a module cannot be found: what is not read could change unseen.
    """
    found: dict[str, Path] = {}
    waiting = list(roots)
    while waiting:
        module = waiting.pop()
        if module in found or (module not in roots and _is_in(module, _DESCRIPTIONS)):
            continue
        found[module] = _source(module)
        waiting.extend(_imports(found[module]))
    return found


def _source(module: str) -> Path:
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:
        spec = None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise InvalidInputError(
            f"no source file was found for module {module!r}; check drive.code.ROOTS and what imports it"
        )
    return Path(spec.origin)


def _is_in(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


@cache
def _imports(path: Path) -> tuple[str, ...]:
    return tuple(_walk(ast.parse(path.read_bytes())))


def _walk(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if _is_in(alias.name, _OURS))
        elif isinstance(node, ast.ImportFrom) and node.module and _is_in(node.module, _OURS):
            yield node.module
            yield from _submodules(node.module, [alias.name for alias in node.names])


def _submodules(package: str, names: list[str]) -> Iterator[str]:
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for name in names:
            if (Path(folder) / f"{name}.py").exists() or (
                Path(folder) / name / "__init__.py"
            ).exists():
                yield f"{package}.{name}"
