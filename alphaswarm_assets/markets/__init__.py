"""The world: bars, features and walk-forward folds. Time only goes forward."""
