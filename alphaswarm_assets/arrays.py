"""Array aliases, so that a signature says the dtype once, and the glossary of axes.

T bars · N symbols · F features · E environments · S seeds · K walk-forward blocks · D observation size · A action size
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Float64Array: TypeAlias = npt.NDArray[np.float64]
Float32Array: TypeAlias = npt.NDArray[np.float32]
Int64Array: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
AnyArray: TypeAlias = npt.NDArray[np.generic]
