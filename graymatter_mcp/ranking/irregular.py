"""English words whose forms share no stem: ``ran`` is found by ``run``."""

from __future__ import annotations

from typing import Final

# The first of each group stands for the others. Forms that are as common in another sense, as the
# "lay" of "lie" and the "wound" of "wind", are left out.
_GROUPS: Final = """
go went gone, buy bought, run ran, see saw seen, get got gotten, give gave given, take took taken,
make made, meet met, write wrote written, win won, begin began begun, find found, feel felt,
say said, tell told, think thought, teach taught, catch caught, bring brought, build built,
lose lost, leave left, eat ate eaten, drive drove driven, drink drank drunk, fall fell fallen,
fly flew flown, grow grew grown, know knew known, sing sang sung, speak spoke spoken, spend spent,
swim swam swum, wear wore worn, sell sold, send sent, break broke broken, choose chose chosen,
come came, draw drew drawn, forget forgot forgotten, hear heard, hold held, keep kept, lead led,
lend lent, pay paid, ride rode ridden, rise rose risen, sit sat, sleep slept, stand stood,
steal stole stolen, understand understood, become became, shoot shot, throw threw thrown,
wake woke woken, fight fought, hang hung, hide hid hidden, light lit, shake shook shaken,
show shown, shine shone, sink sank sunk, stick stuck, strike struck, swing swung, tear tore torn,
bite bit bitten, blow blew blown, deal dealt, dig dug, feed fed, forgive forgave forgiven,
freeze froze frozen, mean meant, ring rang rung, seek sought, bend bent, child children, man men,
woman women, foot feet, tooth teeth, mouse mice, person people, wife wives, life lives,
knife knives, leaf leaves
"""

BASE_OF: Final = {
    form: base for base, *forms in (group.split() for group in _GROUPS.split(",")) for form in forms
}
"""The word that each irregular form belongs to."""
