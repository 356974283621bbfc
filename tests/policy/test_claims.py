from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graymatter_mcp.policy.claims import claims
from graymatter_mcp.policy.contradiction import conflict, contradicts
from graymatter_mcp.policy.values import Value
from graymatter_mcp.ranking.tokens import Analyzer, tokenize

WORDS = (
    "The API db/pool.py uses is runs moved from to port 7778 7779 v1.2.3 model gpt-4 not don't"
    " never : = ; . ? 3 May 2026 02:00 localhost:80 lives in Berlin, and 5 GB $7 #4 enabled"
    " disabled on off データ 数据库 لا Straße \u2019s"
)
TEXTS = st.lists(
    st.one_of(st.sampled_from(WORDS.split()), st.text(max_size=6)),
    max_size=14,
).map(" ".join)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("The demo is on 2026-03-01", [("date", "2026-03-01")]),
        ("The demo is on May 3rd, 2026", [("date", "may 3rd 2026")]),
        ("La demo is 3 de mayo de 2026", [("date", "3 de mayo de 2026")]),
        ("Backups run at 02:00", [("time", "02:00")]),
        ("Standup starts at 9 am", [("time", "9 am")]),
        ("The client uses v1.2.3", [("version", "1.2.3")]),
        ("The server is on version 3.9", [("version", "3.9")]),
        ("The API uses port 7778", [("port", "7778")]),
        ("The API listens on localhost:7778", [("port", "7778")]),
        ("The URL is http://localhost:7778/api", [("port", "7778")]),
        ("Production runs sha-1a2b3c4", [("sha", "sha-1a2b3c4")]),
        ("The digest is sha256:1a2b3c4d", [("sha", "sha256:1a2b3c4d")]),
        ("The model is Claude Opus 4.1", [("name", "claude opus 4.1")]),
        ("It runs image web/api:1.4.2", [("name", "1.4.2")]),
        ("Ana lives in New Orleans", [("answer", "new orleans")]),
        ("The site is hosted on Fly", [("answer", "fly")]),
        ("It costs $5 or 2.5 % of -3 MB", [("number", n) for n in ("5", "2.5", "-3")]),
        ("The pool has 1,000 slots", [("number", "1000")]),
        ("We moved from port 1 to 2", [("port", "2")]),
        ("Invoice 1041 is open", []),
        ("The fee is for ticket #12 and ticket 13", []),
        ("The team uses Postgres 16", []),
        ("The team is alone since 2024", []),
        ("Ana lives in Berlin, Germany", []),
        ("Ana lives in Berlin or Bonn", []),
        ("Ana lives in one two three four five", []),
        ("The shareholder is happy", []),
        ("The room has a 3rd door", []),
        ("Bob bought 3 apples", []),
        ("Use port 80", []),
    ],
)
def test_a_value_is_what_the_contract_calls_one(text: str, values: list[tuple[str, str]]) -> None:
    """Data plane 5.4, rule 2."""
    (claim,) = claims(text)
    assert claim.values == tuple(Value(*value) for value in values)


@pytest.mark.parametrize(
    ("text", "subjects"),
    [
        ("The API uses port 1. Logs live in /var/log; Bob: tea\nIs it? yes", 5),
        ("Dr. Weber lives in Bonn, e.g. near St. Remigius, until 3. Mai 2026", 1),
        ("", 0),
        ("  \n ; ", 0),
        ("データ。設定\uff01", 2),
    ],
)
def test_a_text_is_split_at_sentence_ends_semicolons_and_lines(text: str, subjects: int) -> None:
    """Data plane 5.4, rule 1: an abbreviation ends nothing."""
    assert len(claims(text)) == subjects


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("The staging API uses port 1", {"stage", "api"}),
        ("Server 2 has 5 disks", {"server", "2"}),
        ("In 2024 the team has 5 heads", {"2024", "team"}),
        ("The front end is red", {"front", "end"}),
        ("Support costs 5 euros", {"support"}),
        ("The test run takes 5 minutes", {"test", "run"}),
        ("Use Redis", set[str]()),
        ("Bob likes tea", set[str]()),
        ("I live in Berlin", {"=i"}),
        ("It uses port 1", set[str]()),
    ],
)
def test_the_subject_is_what_stands_before_the_linking_verb(text: str, subject: set[str]) -> None:
    """Data plane 5.4, rule 1: nouns that look like verbs link nothing."""
    (claim,) = claims(text)
    assert claim.subject == subject


@pytest.mark.parametrize(
    ("text", "is_negative"),
    [
        ("We use Redis", False),
        ("We do not use Redis", True),
        ("We don\u2019t use Redis", True),
        ("We no longer use Redis", True),
        ("We cannot use Redis", True),
        ("We work without Redis", True),
        ("Redis is inactive", True),
        ("Redis: off", True),
        ("Redis sits on a shelf", False),
        ("Dark mode is not disabled", False),
        ("The number is No 5", False),
    ],
)
def test_polarity_is_read_from_negations_and_pairs(text: str, is_negative: bool) -> None:
    """Data plane 5.4, rule 4."""
    (claim,) = claims(text)
    assert claim.is_negative == is_negative


@pytest.mark.parametrize(
    ("text", "is_event"),
    [
        ("Ana ran 5 km", True),
        ("The release was late", True),
        ("Ana enabled dark mode", True),
        ("Dark mode enabled", False),
        ("Alerts enabled for staging", False),
        ("Does the API use port 1?", True),
        ("The API was moved from port 1 to port 2", False),
        ("Ana runs 5 km", False),
    ],
)
def test_events_and_questions_take_no_part(text: str, is_event: bool) -> None:
    """Data plane 5.4, rule 5."""
    (claim,) = claims(text)
    assert claim.is_event == is_event


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("The API uses port 1", "The API uses port 2", "scalar"),
        ("The API is public", "The API is not public", "polarity"),
        ("The API uses port 1", "The API uses port 1", None),
        ("The API uses port 1", "The API does not use port 2", None),
    ],
)
def test_a_conflict_has_a_kind(old: str, new: str, kind: str | None) -> None:
    """Data plane 5.4, rule 4, and 7.1, which names the kind."""
    assert conflict(claims(new)[0], claims(old)[0]) == kind


@given(TEXTS)
@example("The pool uses db_a.internal:5432, 16GB, $7, C++; The image is web/api_x:1.4")
@example("CANNOT can't won't shouldn't isn't wasn't can will")
def test_each_frame_word_is_an_index_term_of_its_text(text: str) -> None:
    """Data plane 5.4: the candidates of a contradiction are looked up in the keyword index."""
    tokens = tokenize(text)
    index = set(Analyzer("english").index_terms(tokens))
    for claim in claims(text):
        assert set(claim.frame_words) <= index
        assert set(claim.frame_tokens) <= set(tokens)


@given(TEXTS, TEXTS)
def test_a_text_never_contradicts_itself_and_conflicts_are_mutual(a: str, b: str) -> None:
    """Data plane 5.4: rule 4 has no direction."""
    assert not contradicts(a, a)
    for one in claims(a):
        for other in claims(b):
            assert conflict(one, other) == conflict(other, one)


@pytest.mark.parametrize(
    "piece",
    ["a:", "1.", "$1 ", "model A ", "lives in ", "moved from 1 to 2 ", "don't ", "1:1:", "1,1,"],
)
def test_a_text_made_of_cues_alone_is_judged(piece: str) -> None:
    """Data plane 1.2: the longest text, made to mislead, ends in an answer and not in a hang."""
    text = piece * (262_144 // len(piece))
    assert not contradicts(text, text)
