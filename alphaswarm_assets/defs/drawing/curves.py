"""Curves: equity and drawdown over the calendar, learning over environment steps."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from alphaswarm_assets.arrays import Float64Array, Int64Array
from alphaswarm_assets.defs.drawing import canvas
from alphaswarm_assets.defs.drawing.canvas import LegendEntry
from alphaswarm_assets.errors import InvalidInputError

MOST_NAMED_SEEDS: Final = 8
"""More seeds than colours are drawn alike, with their mean on top."""


def equity_curves(
    session_days: Int64Array,
    curves: Mapping[str, Float64Array],
    band: Float64Array | None = None,
    *,
    title: str = "Equity, net of costs",
) -> bytes:
    """Draw equity over time, one line a policy; the first is the one the picture is about.

    Parameters
    ----------
    session_days : (T,) int64
        Days since 1970-01-01.
    curves : mapping of label to (T,) float64
        Equity as a multiple of its start; NaN leaves a gap.
    band : (S, T) float64, optional
        Equity of each seed, shaded from the least to the most.
    title : str
        What the picture shows.

    Raises
    ------
    InvalidInputError
        If a curve or the band is not as long as *session_days*.
    """
    days = np.asarray(session_days, dtype=np.float64)
    lines = {label: _aligned(curve, days, label) for label, curve in curves.items()}
    shade = None if band is None else _checked_band(band, days)
    texts = [f"{label.replace('_', ' ')} {_last(line)}" for label, line in lines.items()]
    texts += [] if shade is None else [_shade_text(len(shade))]
    top = canvas.legend_bottom(texts)
    figure = canvas.new_figure(320 + top, title)
    axes = canvas.plot_axes(figure, top=top, y="equity (start = 1)")
    if not any(np.isfinite(line).any() for line in lines.values()):
        canvas.say_nothing_to_draw(axes, "no equity to draw")
        return canvas.to_png(figure)
    axes.axhline(1.0, color=canvas.FAINT, linewidth=1.0)
    handles = [_line(axes, days, line, i) for i, line in enumerate(lines.values())]
    handles += [] if shade is None else [_shade(axes, days, shade)]
    canvas.show_dates(axes, days)
    canvas.show_legend(figure, _entries(handles, texts))
    return canvas.to_png(figure)


def drawdown_curve(
    session_days: Int64Array, equity: Float64Array, *, title: str = "Drawdown from the peak so far"
) -> bytes:
    """Draw how far equity stood below its peak, and name the deepest point.

    Parameters
    ----------
    session_days : (T,) int64
        Days since 1970-01-01.
    equity : (T,) float64
        As a multiple of its start; the start of 1 counts as the first peak.
    title : str
        What the picture shows.

    Raises
    ------
    InvalidInputError
        If *equity* is not as long as *session_days*.
    """
    days = np.asarray(session_days, dtype=np.float64)
    line = _aligned(equity, days, "equity")
    figure = canvas.new_figure(300, title)
    axes = canvas.plot_axes(figure, top=50, y="drawdown (%)")
    finite = np.isfinite(line)
    if not finite.any():
        canvas.say_nothing_to_draw(axes, "no equity to draw")
        return canvas.to_png(figure)
    days, line = days[finite], line[finite]
    fall = 100.0 * (line / np.maximum.accumulate(np.maximum(line, 1.0)) - 1.0)
    deepest = int(fall.argmin())
    axes.fill_between(days, fall, 0.0, color=canvas.VERMILLION, alpha=0.22, linewidth=0)
    _line(axes, days, fall, canvas.PALETTE.index(canvas.VERMILLION))
    axes.set_ylim(max(min(1.25 * float(fall[deepest]), -1.0), -115.0), 0.0)
    if fall[deepest] < 0.0:
        _name_deepest(axes, days, fall, deepest)
    canvas.show_dates(axes, days)
    return canvas.to_png(figure)


def learning_curves(
    curves: Mapping[Any, Sequence[tuple[int, float]]],
    *,
    y: str = "mean episode return (log growth)",
    title: str = "Learning curves, one line a seed",
) -> bytes:
    """Draw a training metric over environment steps, one line a seed.

    Parameters
    ----------
    curves : mapping of seed to (step, value) pairs
        Values that are not finite leave a gap.
    y : str
        What the value is, with its unit.
    title : str
        What the picture shows.
    """
    lines = {str(seed): _points(rows) for seed, rows in curves.items()}
    drawn = {seed: line for seed, line in lines.items() if np.isfinite(line[1]).any()}
    crowded = len(drawn) > MOST_NAMED_SEEDS
    texts = [f"{len(drawn)} seeds", "their mean"] if crowded else [f"seed {seed}" for seed in drawn]
    top = canvas.legend_bottom(texts)
    figure = canvas.new_figure(300 + top, title)
    axes = canvas.plot_axes(figure, top=top, x="environment steps (thousands)", y=y)
    if not drawn:
        canvas.say_nothing_to_draw(axes, "no learning curve to draw")
        return canvas.to_png(figure)
    lines_of = list(drawn.values())
    handles = (
        _crowd(axes, lines_of)
        if crowded
        else [_line(axes, *line, i, 1.5) for i, line in enumerate(lines_of)]
    )
    axes.margins(x=0.01)
    canvas.show_legend(figure, _entries(handles, texts))
    return canvas.to_png(figure)


def _aligned(values: Float64Array, days: Float64Array, label: str) -> Float64Array:
    line = np.asarray(values, dtype=np.float64)
    if line.shape != days.shape:
        raise InvalidInputError(
            f"{label!r} must have one value a session, shape {days.shape}, was {line.shape}"
        )
    return np.where(np.isfinite(line), line, np.nan)


def _line(
    axes: canvas.Axes, x: Float64Array, y: Float64Array, i: int, width: float | None = None
) -> Any:
    lone = _alone(y)
    (handle,) = axes.plot(
        x,
        y,
        color=canvas.PALETTE[i % len(canvas.PALETTE)],
        linewidth=width or (2.0 if i == 0 else 1.4),
        linestyle=("-", "--", "-.", ":")[(i // len(canvas.PALETTE)) % 4],
        marker="o" if lone else "",
        markersize=4,
        markevery=lone or None,
        zorder=4 if i == 0 else 3,
    )
    return handle


def _alone(y: Float64Array) -> list[int]:
    # A point between two gaps belongs to no line: it is seen only if it is marked.
    known = np.concatenate(([False], np.isfinite(y), [False]))
    return np.flatnonzero(known[1:-1] & ~known[:-2] & ~known[2:]).tolist()


def _shade_text(n_seeds: int) -> str:
    return "1 seed" if n_seeds == 1 else f"{n_seeds} seeds, least to most"


def _checked_band(band: Float64Array, days: Float64Array) -> Float64Array:
    seeds = np.asarray(band, dtype=np.float64)
    if seeds.ndim != 2 or seeds.shape[1] != len(days):
        raise InvalidInputError(f"band must have shape (S, {len(days)}), was {seeds.shape}")
    return seeds


def _shade(axes: canvas.Axes, days: Float64Array, band: Float64Array) -> Any:
    least = np.where(np.isfinite(band), band, np.inf).min(axis=0, initial=np.inf)
    most = np.where(np.isfinite(band), band, -np.inf).max(axis=0, initial=-np.inf)
    known = least <= most
    return axes.fill_between(
        days[known], least[known], most[known], color=canvas.BLUE, alpha=0.16, linewidth=0
    )


def _entries(handles: Sequence[Any], texts: Sequence[str]) -> list[LegendEntry]:
    # A crowd whose seeds were logged at different steps has no mean, and one handle less.
    return [
        LegendEntry(handle=handle, text=text) for handle, text in zip(handles, texts, strict=False)
    ]


def _last(line: Float64Array) -> str:
    finite = line[np.isfinite(line)]
    return f"{finite[-1]:.2f}" if finite.size else "no data"


def _name_deepest(axes: canvas.Axes, days: Float64Array, fall: Float64Array, at: int) -> None:
    right_half = len(days) > 1 and days[at] > 0.7 * days[-1] + 0.3 * days[0]
    axes.plot(days[at], fall[at], marker="o", color=canvas.INK, markersize=4, zorder=5)
    axes.annotate(
        f"−{-fall[at]:.1f} % on {np.datetime64(int(days[at]), 'D')}",
        (days[at], fall[at]),
        xytext=(-8 if right_half else 8, -4),
        textcoords="offset points",
        ha="right" if right_half else "left",
        va="top",
        fontsize=10,
        color=canvas.INK,
    )


def _points(rows: Sequence[tuple[int, float]]) -> tuple[Float64Array, Float64Array]:
    table = np.array(rows, dtype=np.float64).reshape(-1, 2)
    return table[:, 0] / 1000.0, np.where(np.isfinite(table[:, 1]), table[:, 1], np.nan)


def _crowd(axes: canvas.Axes, lines: Sequence[tuple[Float64Array, Float64Array]]) -> list[Any]:
    handles = [
        axes.plot(steps, values, color=canvas.SKY, linewidth=0.8, alpha=0.7)[0]
        for steps, values in lines
    ][:1]
    grid = lines[0][0]
    if all(np.array_equal(steps, grid) for steps, _ in lines):
        values = np.array([values for _, values in lines])
        known = np.isfinite(values).any(axis=0)
        mean = np.nanmean(values[:, known], axis=0)
        handles += axes.plot(grid[known], mean, color=canvas.BLUE, linewidth=2.2)
    return handles
