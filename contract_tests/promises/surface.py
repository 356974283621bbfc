"""What a client reads before its first call: tools, schemas, the opening."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from contract_tests.promises import Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: Final[Mapping[str, Promise]] = {
    "tools:seven-in-order": Promise(
        "C1", "The core toolset is exactly seven tools, no name twice, in the documented order."
    ),
    "tools:hints": Promise(
        "C2", "Every tool has its title and all four hints, with the documented values."
    ),
    "tools:prose-rules": Promise("C3", "Titles and descriptions keep the rules of section 2.4."),
    "tools:small": Promise("C3", "The list of tools is under 12 KB as compact JSON."),
    "tools:properties": Promise(
        "C4", "Every tool has exactly the documented properties and required list."
    ),
    "tools:top-k-default": Promise("C5", "`top_k` has default 8 in the schema of both searches."),
    "tools:on-missing": Promise(
        "C6", "`on_missing` has default `error` and the enum `error`, `empty`."
    ),
    "tools:reflect-actions": Promise(
        "C7", "The actions of reflect are add, update, forget, link, pin, unpin."
    ),
    "tools:revisions": Promise("2.1", "Every tool serves the revision of its schema in `_meta`."),
    "schemas:sound": Promise(
        "C8", "Every schema compiles as draft 2020-12 and holds no reference."
    ),
    "schemas:plain-inputs": Promise("C8", "No input schema has a union, at its root or inside."),
    "schemas:object-outputs": Promise(
        "C9", "Every tool declares a closed output schema of type object."
    ),
    "schemas:resume-union": Promise(
        "C11", "No value fits both branches of the output of `checkpoint_resume`."
    ),
    "schemas:reflect-truth-table": Promise(
        "3.7", "The schema of reflect alone decides as its truth table."
    ),
    "outputs:fit-their-schema": Promise(
        "C10", "Every success payload fits the schema that is served, in every revision."
    ),
    "outputs:one-story": Promise(
        "C12", "A success has one text item, which tells the payload's outcome."
    ),
    "snapshots:tools-list": Promise("house:3", "`tools/list` is what it was, in every revision."),
    "snapshots:opening": Promise("house:3", "The opening is what it was, in every revision."),
    "snapshots:cli-help": Promise("house:3", "The help of the command is what it was."),
    "snapshots:rest": Promise(
        "house:3", "The REST routes and their description are what they were."
    ),
    "snapshots:none-unused": Promise("house:3", "No snapshot is missing or left over."),
    "server:identity": Promise(
        "C13", "The server gives the project's name and the installed package's version."
    ),
    "server:instructions": Promise(
        "C14",
        "The opening carries the shipped instructions, whatever is stored.",
        "the owner socket and HTTP come with their transports",
    ),
    "server:instruction-budget": Promise(
        "C15", "The instructions hold the four literals within 240 estimated tokens."
    ),
    "server:capabilities": Promise("2.1", "Tools, with `listChanged`, are the only capability."),
    "server:revisions": Promise(
        "2.1", "A known revision is echoed; an unknown one gets the newest."
    ),
    "server:eras": Promise("wire:3", "A connection stays in the era of its first request."),
    "errors:protocol": Promise(
        "2.5", "What is no call of a known tool is a protocol error with its code."
    ),
}
