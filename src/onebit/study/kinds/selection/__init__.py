"""Studies that select the best of N models."""
