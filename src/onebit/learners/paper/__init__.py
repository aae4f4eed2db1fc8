"""The paper: Algorithm 1, its references, its sizes, and infinite classes. ``algorithm1.py`` is where to begin."""
