"""The process of a mutant: between a client and a good server, line by line.

Run as ``python -m contract_tests.mutants.wrapper NAME COMMAND...``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, cast

from contract_tests.mutants.catalogue import MUTANTS

if TYPE_CHECKING:
    from contract_tests.mutants.mutant import Message, Mutant


def serve(mutant: Mutant, command: list[str]) -> int:
    """Carry lines both ways until the client's input ends."""
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None
    assert server.stdout is not None
    asked: dict[object, Any] = {}
    reader = threading.Thread(target=_answers, args=(mutant, server.stdout, asked))
    reader.start()
    for line in sys.stdin.buffer:
        server.stdin.write(_request(mutant, line, asked))
        server.stdin.flush()
    server.stdin.close()
    reader.join()
    return server.wait()


def _request(mutant: Mutant, line: bytes, asked: dict[object, Any]) -> bytes:
    try:
        message: Any = json.loads(line)
    except ValueError:
        return line
    if not isinstance(message, dict) or "id" not in message:
        return line
    asked[message["id"]] = message
    return json.dumps(mutant.on_request(cast("Message", message))).encode() + b"\n"


def _answers(mutant: Mutant, stream: Any, asked: dict[object, Any]) -> None:
    for line in stream:
        message = json.loads(line)
        # What answers no request answers a line that could not be read.
        request = asked.pop(message.get("id"), {"method": ""})
        changed = mutant.on_answer(request, message)
        sys.stdout.buffer.write(json.dumps(changed).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(serve(MUTANTS[sys.argv[1]], sys.argv[2:]))
