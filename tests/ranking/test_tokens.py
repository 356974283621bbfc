"""The tokeniser, its stemming and identifier queries."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graymatter_mcp.ranking.tokens import (
    STOP_WORDS,
    Analyzer,
    identifiers,
    is_joined,
    tokenize,
    tokenize_unicode,
)

TABLE = {
    "Run src/db/pool.py on port 8080, v1.2.3": (
        "run src db pool py src/db/pool.py port 8080 v1 2 3 v1.2.3"
    ),
    "Café MÜNCHEN ﬁne": "cafe munchen fine",
    "naïve Straße": "naive strasse",
    "東京都の天気": "東京 京都 都の の天 天気",
    "C++ and C#": "c++ c#",
    "host:5432.": "host 5432 host:5432",
    "user_id=getUserName()": "user id user_id getusername",
}

SCRIPTS = {
    "Greek loses accents": ("Άνθρωπος ΚΑΛΗΜΈΡΑ", ("ανθρωποσ", "καλημερα")),
    "Cyrillic loses marks": ("Ёлка й", ("елка",)),
    "Vietnamese loses stacked marks": ("Tiếng Việt", ("tieng", "viet")),
    "Turkish capital dotted i": ("İstanbul", ("istanbul",)),
    "Arabic marks stay": ("مُحَمَّد", ("مُحَمَّد",)),
    "Hebrew points stay": ("שָׁלוֹם", (unicodedata.normalize("NFKC", "שָׁלוֹם"),)),
    "Devanagari marks stay": ("नमस्ते दुनिया", ("नमस्ते", "दुनिया")),
    "Thai in pairs, marks stay": ("วันดี", ("วั", "ัน", "นด", "ดี")),
    "Thai digits stay whole": ("๑๒๓ ๔", ("๑๒๓", "๔")),
    "Tamil marks stay": ("தமிழ்", ("தமிழ்",)),
    "Hangul in pairs": ("안녕하세요", ("안녕", "녕하", "하세", "세요")),
    "Hangul typed as jamo": (unicodedata.normalize("NFD", "안녕"), ("안녕",)),
    "Katakana with its length mark": ("サーバー", ("サー", "ーバ", "バー")),
    "Half-width katakana": ("ｻｰﾊﾞｰ", ("サー", "ーバ", "バー")),
    "Han beside Latin and digits": ("Tシャツ2024年", ("シャ", "ャツ", "2024", "年")),
    "Han outside the basic plane": ("𠮷野家", ("𠮷野", "野家")),
    "Armenian": ("Բարև", ("բարեւ",)),
    "Georgian": ("საქართველო", ("საქართველო",)),
    "Full-width Latin": ("\uff21\uff30\uff29\uff0f\uff36\uff12", ("api", "v2", "api/v2")),
    "Ligatures and superscripts": ("ﬃ m² ½", ("ffi", "m2", "1", "2")),
    "One CJK character": ("猫 ね", ("猫", "ね")),
    "One Arabic-Indic digit": ("٣ ب", ("٣",)),
}


@pytest.mark.parametrize(("text", "expected"), TABLE.items())
def test_the_table_of_the_contract_holds(text: str, expected: str) -> None:
    """Contract 5.2, C57."""
    assert tokenize(text) == tuple(expected.split())


@pytest.mark.parametrize(("text", "expected"), SCRIPTS.values(), ids=SCRIPTS.keys())
def test_every_script_is_split_as_its_readers_expect(text: str, expected: tuple[str, ...]) -> None:
    """Contract 5.2 rules 1 to 3, F7."""
    assert tokenize(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--flag", ("flag",)),
        (".env", ("env",)),
        ("/usr/bin/", ("usr", "bin", "usr/bin")),
        ("C:\\temp\\a.txt", ("temp", "txt", "c:\\temp\\a.txt")),
        ("me@example.org.", ("example", "org", "me@example.org")),
        ("state-of-the-art", ("state", "art", "state-of-the-art")),
        ("+#+ ... ___", ()),
        ("_private_", ("private",)),
        ("don't", ("don",)),
        ("a x 7", ("7",)),
        ("a/b c/d", ("a/b", "c/d")),
        ("größe_µ.py", ("grosse", "py", "grosse_μ.py")),
        ("", ()),
        ("  \t\n", ()),
    ],
)
def test_joined_tokens_are_trimmed_and_follow_their_words(
    text: str, expected: tuple[str, ...]
) -> None:
    """Contract 5.2 rules 3 and 5."""
    assert tokenize(text) == expected


@given(st.text(st.characters(max_codepoint=127)))
def test_the_short_cut_for_ascii_changes_nothing(text: str) -> None:
    """Contract 5.2: one tokeniser."""
    assert tokenize(text) == tokenize_unicode(text)


@given(st.text())
def test_joined_tokens_and_words_never_mix(text: str) -> None:
    """Contract 5.2: tokens hold no blank, no capital and no stop word."""
    for token in tokenize(text):
        assert token
        assert not token.isspace()
        assert token not in STOP_WORDS
        assert is_joined(token) == bool(re.search(r"[-_./\\:@#+]", token))


@given(st.text())
def test_upper_case_and_composition_change_no_token(text: str) -> None:
    """Contract 5.2 rule 1: spellings of one text are one."""
    assert tokenize(unicodedata.normalize("NFC", text)) == tokenize(
        unicodedata.normalize("NFD", text)
    )


def test_the_word_class_of_the_pattern_is_letters_numbers_and_underscore() -> None:
    """Contract 5.2 rule 2: categories L and N; marks are added by name."""
    word = re.compile(r"\w")
    strange = [
        hex(code)
        for code in range(sys.maxunicode + 1)
        if (word.match(chr(code)) is not None)
        != (unicodedata.category(chr(code))[0] in "LN" or chr(code) == "_")
    ]
    assert strange == []


def test_words_are_stemmed_and_identifiers_are_not() -> None:
    """Contract 5.2 rules 4 and 5."""
    tokens = tokenize("Running deploys of the pools v1.2.3 b2bs fast-running 東京")
    assert Analyzer("english").index_terms(tokens) == (
        *("run", "deploy", "pool", "v1", "2", "3", "v1.2.3", "b2bs"),
        *("fast", "run", "fast-running", "東京"),
    )
    assert Analyzer(None).index_terms(tokens) == tokens


def test_another_language_stems_by_its_own_rules() -> None:
    """Contract 5.2 rule 4: switchable."""
    assert Analyzer("german").index_term("hauser") == "haus"
    assert Analyzer("english").index_term("hauser") == "hauser"
    assert Analyzer("dutch_porter").index_term("lichamelijk") == "licham"


def test_an_unknown_language_is_refused_with_the_names_of_the_known() -> None:
    """Contract 9.3: a bad value is an error."""
    with pytest.raises(ValueError, match=r"'klingon'.*\benglish\b.*\byiddish\b"):
        Analyzer("klingon")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("8080", ("8080",)),
        ("v1.2.3", ("v1.2.3",)),
        ("src/db/pool.py", ("src/db/pool.py",)),
        ("C++", ("c++",)),
        ("getUserName", ("getusername",)),
        ("the getUserName and port_id", ("getusername", "port_id")),
        ("covid-19", ("covid-19",)),
        ("fooBar-bazQux", ("foobar", "bazqux")),
        ("pool.py pool", ("pool.py",)),
        ("v2 v2", ("v2",)),
        ("ÉcoleÉte", ("ecoleete",)),
        ("gettingUser", ("gettinguser",)),
        ("get\u1e9b\u0323User", ("getsuser",)),
        ("q\u0302Z", ("qz",)),
        ("0\u1f80", ("0\u03b1\u03b9",)),
        ("getuser", None),
        ("GETUSER", None),
        ("Getuser", None),
        ("well-known", None),
        ("state-of-the-art", None),
        ("pool.py timeout", None),
        ("port 8080", None),
        ("b2b-sales", None),
        ("2024年の売上", None),
        ("東京", None),
        ("the", None),
        ("", None),
    ],
)
def test_identifier_queries_are_told_from_prose(
    query: str, expected: tuple[str, ...] | None
) -> None:
    """Contract 5.3, C57."""
    assert identifiers(query) == expected


@given(st.text())
def test_what_an_identifier_query_asks_for_is_among_its_tokens(query: str) -> None:
    """Contract 5.3: a fact of the same text as the query always holds its identifiers."""
    assert set(identifiers(query) or ()) <= set(tokenize(query))


def test_a_word_longer_than_any_language_has_is_not_stemmed() -> None:
    """Issue: a text of 20 MB holds up nobody; the stemmer's time grows with the square."""
    analyzer = Analyzer("english")
    assert analyzer.index_term("running" * 9 + "s") == "running" * 8 + "run"
    assert analyzer.index_term("walk" * 16 + "ings") == "walk" * 16 + "ings"
    endless = "y" * 1_000_000
    assert analyzer.index_term(endless) == endless


def test_an_endless_run_of_marks_costs_no_more_than_a_long_one() -> None:
    """Issue: a hostile query holds up nobody; ordering marks takes the square of their number."""
    marks = "\u0301\u0327" * 200_000
    assert tokenize(f"ma{marks}rk plain") == ("mark", "plain")
    assert identifiers(f"v1.2{marks}") is not None
