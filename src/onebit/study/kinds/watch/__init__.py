"""Batches of fresh items on which the choice of a study is watched."""
