"""Commands on the data plane: options are fields, `--json` is the body, text is for people."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest
from jsonschema import Draft202012Validator

from graymatter_mcp.contract.routes import load_route
from graymatter_mcp.surfaces.cli.plain import printable

if TYPE_CHECKING:
    from tests.cli.in_process import InProcess

NOTHING: Final = "No memories found."
ODD: Final = "Café crème \x1b[31mred\x07 \u202etxt \x9b2J and\nmore"
SHOWN: Final = "Café crème \\x1b[31mred\\x07 \\u202etxt \\x9b2J and\\nmore"


def body(here: InProcess, route: str, *arguments: str) -> Any:
    """Run one command; its document must be a body of the route."""
    document = here.json(*arguments)
    checker: Any = Draft202012Validator(load_route(route).response or {})
    checker.validate(document)
    return document


def capture(here: InProcess, text: str, *options: str) -> str:
    """Store one fact; return its id."""
    return body(here, "capture", "capture", text, *options)["id"]


def test_what_is_captured_is_found_by_every_command(here: InProcess) -> None:
    """Issue 5, 6: each command asks the operation of its name."""
    first = capture(here, "The staging API listens on port 7778", "--namespace", "web")
    options = ["--source-refs", "ticket:1", "--source-refs", "ticket:2", "--confidence", "0.4"]
    options += ["--metadata", '{"subject": "invoices"}', "--captured-from", "meeting"]
    second = capture(here, "Invoices are sent on Fridays at noon", "--namespace", "web", *options)
    newest = body(here, "recent", "recent", "--k", "1")["results"]
    assert [one["id"] for one in newest] == [second]
    assert newest[0]["confidence"] == 0.4
    assert newest[0]["capturedFrom"] == "meeting"
    assert newest[0]["metadata"]["subject"] == "invoices"
    ids = ["--ids", first, "--ids", second, "--content-mode", "ids"]
    assert [one["id"] for one in body(here, "recent", "recent", *ids)["results"]] == [second, first]
    found = body(here, "context", "context", "staging port", "--include-namespaces", "web")
    assert [one["id"] for one in found["relevant"]["results"]][:1] == [first]
    weighted = ["--weights", '{"keyword": 1, "vector": 0}', "--abstain-below", "0"]
    again = body(here, "context", "context", "staging port", *weighted)
    assert again["relevant"]["results"][0]["signals"]["vector"] == 0
    assert body(here, "neighbors", "neighbors", first, "--depth", "2")["degraded"] is False
    assert body(here, "neighbors", "neighbors", "unknown")["results"] == []


def test_people_read_one_line_a_fact(here: InProcess) -> None:
    """Contract 11.1: short text, in words that say what became of it."""
    stored = here("capture", "The staging API listens on port 7778").stdout
    first = stored.removeprefix("Stored: ").strip()
    assert len(first) == 26
    again = here("capture", "The staging API listens on port 7778").stdout
    assert again == f"Known already: {first}\n"
    assert here("capture", "ok thanks").stdout.startswith("Not stored: ")
    replaced = here("capture", "The staging API listens on port 9999").stdout
    assert replaced.endswith(f", in place of {first}\n")
    second = replaced.removeprefix("Stored: ")[:26]
    shown = here("recent").stdout.splitlines()
    assert len(shown) == 1
    assert shown[0].split("  ") == [
        second,
        here.json("recent")["results"][0]["createdAt"][:10],
        "default",
        "The staging API listens on port 9999",
    ]
    grounded = here("context", "staging port").stdout.splitlines()
    assert grounded[0] == "Relevant:"
    assert grounded[1].startswith(f"  {second}  ")
    assert grounded[2] == "Recent:"
    assert here("context", "nobody ever heard of this").stdout.splitlines()[1] == f"  {NOTHING}"
    assert here("neighbors", second).stdout == f"{NOTHING}\n"
    assert here("--quiet", "recent").stdout == ""


def test_text_that_is_stored_never_acts_on_the_terminal(here: InProcess) -> None:
    """Issue 5, 6: stored text is data; the JSON holds it as it is."""
    capture(here, ODD, "--namespace", "odd\x1b[2J")
    for command in (["recent"], ["context", "crème red"]):
        shown = here(*command).stdout
        assert SHOWN in shown
        assert "odd\\x1b[2J" in shown
        assert not set(shown) & set("\x1b\x07\x9b\u202e")
    assert here.json("recent")["results"][0]["content"] == ODD
    every = [*range(0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A)]
    assert printable("".join(map(chr, every))).isprintable()
    assert printable("日本語 🦙 e\u0301 \\n") == "日本語 🦙 e\u0301 \\n"


WRONG: Final = [
    (["recent", "--k", "201"], "k: must be at most 200"),
    (["recent", "--k", "many"], "k: must be an integer"),
    (["recent", "--k", "0", "--content-mode", "brief"],
     "contentMode: must be one of: full, snippet, ids; k: must be at least 1"),
    (["recent", "--namespace", ""], "namespace: must hold at least 1 characters"),
    (["recent", "--include-namespaces", "ok", "--include-namespaces", "-bad"],
     "includeNamespaces.1: namespace must start alphanumeric and contain only letters, digits,"
     " dot, colon, underscore, or dash"),
    (["context", " "], "message: must hold a character that is not white space"),
    (["context", "x", "--weights", "{no"], "weights must be a JSON object"),
    (["context", "x", "--weights", "[1]"], "weights: must be an object"),
    (["neighbors", "x", "--depth", "4"], "depth: must be one of: 1, 2, 3"),
    (["capture", "A fact that is long enough", "--metadata", "5"], "metadata: must be an object"),
    (["audit", "--limit", "501"], "limit: must be at most 500"),
]  # fmt: skip


def test_a_wrong_option_is_named_as_the_field(here: InProcess) -> None:
    """Contract 11.1; data plane 2.6: all issues, by path."""
    capture(here, "The staging API listens on port 7778")
    for arguments, text in WRONG:
        complaint = here("--json", *arguments).complaint
        assert complaint == {"error": text, "code": "invalid_argument"}
    arguments, text = WRONG[0]
    assert here(*arguments).stderr == f"{text}\n"


@pytest.mark.parametrize(
    "arguments",
    [["recent"], ["context", "x"], ["neighbors", "x"], ["hygiene"], ["audit"], ["project", "list"]],
)
def test_looking_creates_nothing(here: InProcess, arguments: list[str]) -> None:
    """Contract 10.1: only a write makes a memory."""
    assert here("--json", *arguments).complaint["code"] == "routing"
    assert not list(here.where.iterdir())


def test_hygiene_counts_and_lists(here: InProcess) -> None:
    """Issue 5, 6; data plane 7.1."""
    low = capture(here, "so so \x1b[2J things", "--force")
    report = body(here, "hygiene", "hygiene", "--k", "3")
    assert report["lowValue"][0]["id"] == low
    shown = here("hygiene").stdout.splitlines()
    assert shown[:3] == [
        "1 facts looked at",
        "low value: 1",
        f"  {low}  low_worthiness  so so \\x1b[2J things",
    ]
    assert shown[-1] == f"orphan candidates: {report['summary']['orphanCandidates']}"


def test_projects_by_id_or_name(here: InProcess) -> None:
    """Issue 5, 6; data plane 8."""
    made = body(here, "project-create", "project", "create", "web/shop")
    other = here("project", "create", "lab").stdout.split()[1]
    assert body(here, "projects-list", "project", "list")["projects"][0]["role"] == "owner"
    chosen = body(here, "active-project-set", "project", "use", "web/shop")
    assert chosen == {"active": {"id": made["id"], "name": "web/shop"}}
    shown = here("project", "list").stdout.splitlines()
    assert f"*  {made['id']}  owner  web/shop" in shown
    assert f"   {other}  owner  lab" in shown
    inside = capture(here, "The staging API listens on port 7778")
    assert here.json("recent", "--project", "web/shop")["results"][0]["id"] == inside
    assert here.json("project", "leave") == {"active": None}
    assert here("project", "leave").stdout == "No project is in use.\n"
    assert here.json("recent")["results"] == []
    unknown = here("--json", "project", "share", "lab", "nobody").complaint
    assert (unknown["error"], unknown["code"]) == ("unknown user", "not_found")
    assert here("--json", "project", "unshare", "lab", "nobody").complaint == unknown
    assert here("--json", "project", "delete", "none").complaint == {
        "error": "unknown project",
        "code": "not_found",
    }
    twin = here("--json", "project", "create", "lab").complaint
    assert twin == {"error": "you already own a project with that name", "code": "conflict"}
    gone = body(here, "project-delete", "project", "delete", "web/shop")
    assert gone == {"deleted": True, "entriesRemoved": 1}
    assert here("project", "delete", other).stdout == "Deleted, with 0 facts.\n"
    assert here("project", "list").stdout == "No projects.\n"


def test_the_audit_tells_who_did_what(here: InProcess) -> None:
    """Issue 5, 6; data plane 8."""
    stored = capture(here, "The staging API listens on port 7778")
    events = body(here, "audit", "audit")["events"]
    assert events[0]["target"] == stored
    shown = here("audit", "--limit", "1").stdout.splitlines()
    assert shown[0].split("  ")[:2] == [str(events[0]["seq"]), events[0]["at"]]
    assert shown[1:] == [f"Next: --after-seq {events[0]['seq']}"]
    assert here("audit", "--after-seq", "1000").stdout == "No events.\n"
    assert "7778" not in json.dumps(events)
