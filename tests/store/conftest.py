"""Set-up shared by the tests of stores."""

from __future__ import annotations

import pytest

# The suite lies in the package, where pytest does not rewrite asserts by itself.
pytest.register_assert_rewrite("graymatter_mcp.store.conformance")
