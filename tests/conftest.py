"""What all tests share."""

from pathlib import Path

import pytest
from hypothesis import settings

# A deadline is a check of elapsed time: speed is measured in bench/, on purpose and as a ratio.
settings.register_profile("graymatter", deadline=None)
settings.load_profile("graymatter")

SLOW = ("bench", "bridge", "owner", "packaging", "cli/test_backup.py", "cli/test_doctor.py")
"""What starts many processes, or builds packages: a stage of its own."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow ones, so that the default run stays short."""
    here = Path(__file__).parent
    slow = [here / name for name in SLOW]
    for item in items:
        if any(item.path == path or path in item.path.parents for path in slow):
            item.add_marker(pytest.mark.slow)
