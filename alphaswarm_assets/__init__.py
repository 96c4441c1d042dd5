"""AlphaSwarm: from market data to a trading agent's audited verdict, as a graph of assets.

The rooms, top to bottom (an import never points up; `ARCHITECTURE.md` has the picture):

``cli`` the command · ``definitions`` where ports meet adapters · ``defs`` the Dagster graph, by stage ·
``drive`` what to make next · ``runtime`` the one executor · ``rehearsal`` the paper release train ·
``learning`` environments and policies · ``gates`` evidence in, verdict out · ``markets`` bars, features, folds ·
``statistics`` arrays in, numbers out · ``ports`` what the inside asks of the outside ·
``specs`` what is to be made · ``records`` manifests and ledgers · ``streams`` ``arrays`` ``errors`` the ground.
"""

from __future__ import annotations

__version__ = "0.1.0"
