"""All mutants by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.mutants import answers, listings, requests

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contract_tests.mutants.mutant import Mutant

MUTANTS: Final[Mapping[str, Mutant]] = {
    mutant.name: mutant for mutant in (*listings.MUTANTS, *answers.MUTANTS, *requests.MUTANTS)
}
