"""Logs of evaluation tools: one module for each tool, with ``read_log(path)``."""
