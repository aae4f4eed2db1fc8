"""Studies that train a classifier."""
