"""The closed word lists by which claims are read."""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _verbs(lemmas: str) -> dict[str, str]:
    return {form: lemma for lemma in lemmas.split() for form in (lemma, f"{lemma}s")}


LINKING: Final = {
    **_verbs("use run listen start end live work cost take support"),
    **dict.fromkeys(_words("is are am equal equals default defaults set sets"), "be"),
    "has": "have",
    "have": "have",
}
"""Linking verb to its lemma; those that merely say what something is share the lemma `be`."""

CHANGES: Final = _words(
    "moved changed switched migrated raised lowered upgraded downgraded increased decreased"
    " reduced bumped"
)
CHANGE_WORDS: Final = _words("now currently instead again still already new updated anymore")
AUXILIARIES: Final = _words("was were is are has have been be")
MODALS: Final = _words("can will shall should would could must")
NEGATIONS: Final = _words("no not never without cannot")

_PAIRS: Final = (
    ("enabled", "disabled"),
    ("active", "inactive"),
    ("on", "off"),
    ("true", "false"),
    ("allowed", "forbidden"),
    ("started", "stopped"),
    ("added", "removed"),
)
PAIRS: Final = {word: (pair[0], word == pair[1]) for pair in _PAIRS for word in pair}
"""Word to the name of its pair and whether it is the negative one."""
ACTS: Final = _words("enabled disabled allowed forbidden started stopped added removed")
"""Words of pairs that also report what somebody did."""

EVENTS: Final = _words(
    "ran scored paid bought sold met visited finished completed shipped released merged fixed won"
    " lost said wrote sent was were did"
)
DETERMINERS: Final = _words(
    "the a an this that these those our my your his her its their each every"
)
PREPOSITIONS: Final = _words(
    "in at on with for since during near from by to as until because but while when which who"
    " where into onto of through via after before"
)
LOCATIVES: Final = _words("in at on for during since of")
DIRECTIONS: Final = _words("from to into onto by than before after over under above below")
"""Swapping what follows these swaps the meaning."""
SPEAKERS: Final = _words("i me my we you")
PRONOUNS: Final = _words("he she they") | SPEAKERS
"""Stop words of the index that say who is spoken of."""

COUNTED: Final = _words(
    "invoice ticket issue pr order build run step phase sprint chapter page line section item room"
    " desk server node shard replica week quarter round episode season volume part task row column"
    " table figure question lesson unit group zone region cluster pod worker slot gate platform"
    " flight apartment floor customer account"
)
"""Nouns whose number names one of many."""
NUMBERING: Final = _words("number no nr")
NAMED: Final = _words("model image container")
YEAR_WORDS: Final = _words("in during since by")
ANSWERS: Final = {
    "based": _words("in"),
    "located": _words("in"),
    "hosted": _words("on at"),
    "called": frozenset[str](),
    "named": frozenset[str](),
}
"""Participle after a linking verb to the prepositions before its one answer; none needs none."""
ANSWERING_VERBS: Final = {"live": _words("in"), "work": _words("at for")}

UNITS: Final = _words(
    "ms s sec secs min mins h hr hrs d kb mb gb tb kib mib gib tib k m b bn px pt em rem km cm mm"
    " kg g mg lb lbs oz l ml w kw kwh mah v hz khz mhz ghz fps rpm qps rps tps bps kbps mbps gbps"
    " x usd eur gbp chf % °c °f $ € £ ¥ ₹"
)
FUSED: Final = UNITS | _words("can will shall should would could must might need ought dare did")
"""Words of a frame that a text may write as part of another word: 16GB, cannot, won't."""

ROLES: Final = _words(
    "staging production prod dev development test testing qa uat preview sandbox canary demo"
    " primary secondary backup replica left right first second third upper lower front back north"
    " south east west internal external public private old new home work"
    " mother father mom dad mum sister brother wife husband son daughter partner spouse uncle aunt"
    " cousin niece nephew grandmother grandfather grandma grandpa child kid parent"
)
"""Words that tell one of two alike things from the other."""
LIMITS: Final = _words(
    "if unless except only until former formerly previously used was were had maybe might may could"
    " planned deprecated proposed expected supposedly instead or but nor neither hardly barely"
    " almost half nearly partly partially rarely seldom sometimes nowhere nobody none nothing less"
    " fewer than too oder aber ou mais pero nicht kein keine keinen nie niemals"
    " ohne ne pas jamais aucun aucune sans nunca sin ningún ninguna jamás non mai senza não nem sem"
    " niet geen nooit inte aldrig ikke aldri не нет никогда без"
    " није ні není bez nincs nem değil yok δεν όχι χωρίς ei tidak bukan không"
    " لا ليس ليست لم لن غير بدون לא אין ללא नहीं नही मत ไม่"
)
"""Words that take something back, or are too likely to."""
