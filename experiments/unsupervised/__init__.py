"""Studies of searches without a target, of streams and of queries.

uv run python -m experiments.unsupervised clusters
uv run python -m experiments.unsupervised densities --design ring

A study has designs. The results of finished ones are kept in results/unsupervised, and pages are
written from all of them.
"""
