"""Lets tests import what stands beside them, as the processes they begin do."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
