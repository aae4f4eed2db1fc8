"""Passes over tables that do not fit into memory: a task for each shard, on any executor, added up in a fixed order."""

from onebit.passes.engine import EngineLostError, ShardError
from onebit.passes.survey import Survey, survey
from onebit.passes.table import ShardedTable
from onebit.passes.workers import open_workers

__all__ = ["EngineLostError", "ShardError", "ShardedTable", "Survey", "open_workers", "survey"]
