"""Pictures for the asset pages, as PNG bytes; what has no data is drawn as a frame that says so."""

from alphaswarm_assets.defs.drawing.canvas import markdown_image
from alphaswarm_assets.defs.drawing.curves import drawdown_curve, equity_curves, learning_curves
from alphaswarm_assets.defs.drawing.folds import folds_chart
from alphaswarm_assets.defs.drawing.gates import gate_chart
from alphaswarm_assets.defs.drawing.glance import MOST_LETTERS, equity_glance
from alphaswarm_assets.defs.drawing.intervals import interval_plot

__all__ = [
    "MOST_LETTERS",
    "drawdown_curve",
    "equity_curves",
    "equity_glance",
    "folds_chart",
    "gate_chart",
    "interval_plot",
    "learning_curves",
    "markdown_image",
]
