"""The paper's tables and our studies: ``uv run python -m experiments list``."""
