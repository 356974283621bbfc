"""A stdio server over toy tools, run as a child process by the tests of the transport.

Arguments: `--instructions TEXT`, `--fail` (main raises before it serves).
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING

import anyio

from graymatter_mcp.contract.load import Bundle, ToolContract
from graymatter_mcp.surfaces.mcp.answers import Caller, ToolAnswer, UnknownToolError
from graymatter_mcp.surfaces.mcp.instructions import INSTRUCTIONS
from graymatter_mcp.surfaces.mcp.server import build_server
from graymatter_mcp.surfaces.mcp.stdio import StdioWire, run_stdio, serve_stdio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from graymatter_mcp.model.checkpoints import JsonValue

SECRET = "/data/someone/token-gm_secret"  # noqa: S105 - what must never be seen on the wire


def contract(name: str) -> ToolContract:
    """Return a contract that takes and gives anything."""
    return ToolContract(
        name=name,
        title=f"The toy tool {name}",
        description="Use it in tests. Returns what it was told.",
        annotations={
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
        revision=3,
        input_schema={
            "type": "object",
            "properties": {"text": {"type": "string", "description": "Any."}},
            "additionalProperties": False,
        },
        output_schema={
            "type": "object",
            "oneOf": [
                {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]},
                {"type": "object", "properties": {"heard": {}}, "required": ["heard"]},
            ],
        },
    )


class ToyCalls:
    """Carries out the toy tools."""

    def __init__(self) -> None:
        self._gate = anyio.Event()
        self._held = 0
        self._was_cancelled = False

    @property
    def tools(self) -> dict[str, Callable[[Mapping[str, object], Caller], Awaitable[ToolAnswer]]]:
        """The tools by name, in wire order."""
        return {
            "echo": self.echo,
            "whoami": self.whoami,
            "refuse": self.refuse,
            "crash": self.crash,
            "surrogate": self.surrogate,
            "noise": self.noise,
            "hold": self.hold,
            "held": self.held,
            "release": self.release,
        }

    async def call(
        self, name: str, arguments: Mapping[str, object] | None, caller: Caller
    ) -> ToolAnswer:
        """Carry out one call."""
        tool = self.tools.get(name)
        if tool is None:
            raise UnknownToolError(name)
        return await tool(arguments or {}, caller)

    async def echo(self, arguments: Mapping[str, object], caller: Caller) -> ToolAnswer:
        """Return the size of the text, or the text when it is short."""
        text = arguments.get("text")
        if isinstance(text, str) and len(text) > 1000:
            text = f"{len(text)} characters"
        return ToolAnswer(text="heard", structured={"heard": text})  # pyright: ignore[reportArgumentType] - any JSON value

    async def whoami(self, arguments: Mapping[str, object], caller: Caller) -> ToolAnswer:
        """Return the caller as it was seen."""
        heard: JsonValue = {"client": caller.client, "session": caller.session}
        return ToolAnswer(
            text="you", structured={"heard": heard}, meta={"graymatter/degraded": "x"}
        )

    async def refuse(self, arguments: Mapping[str, object], caller: Caller) -> ToolAnswer:
        """Fail as a tool may."""
        return ToolAnswer(text="text is required", is_error=True, structured={"kind": "a"})

    async def crash(self, arguments: Mapping[str, object], caller: Caller) -> ToolAnswer:
        """Fail as no tool may."""
        raise RuntimeError(SECRET)

    async def surrogate(self, arguments: Mapping[str, object], caller: Caller) -> ToolAnswer:
        """Answer with text that has no UTF-8 form."""
        return ToolAnswer(text="half \ud83d", structured={"heard": "half \ud83d"})

    async def noise(self, arguments: Mapping[str, object], caller: Caller) -> ToolAnswer:
        """Make every kind of noise on stdout."""
        print("noise: print")  # noqa: T201 - the noise
        os.write(1, b"noise: descriptor 1\n")
        subprocess.run([sys.executable, "-c", "print('noise: child')"], check=True)  # noqa: ASYNC221 - blocks only this test
        if sys.__stdout__ is not None:
            sys.__stdout__.write("noise: never flushed")
        warnings.warn("noise: warning", stacklevel=1)
        return ToolAnswer(text="loud", structured={"heard": sys.stdin.read()})

    async def hold(self, arguments: Mapping[str, object], caller: Caller) -> ToolAnswer:
        """Wait until released."""
        self._held += 1
        try:
            await self._gate.wait()
        except anyio.get_cancelled_exc_class():
            self._was_cancelled = True
            raise
        finally:
            self._held -= 1
        return ToolAnswer(text="held", structured={"heard": "held"})

    async def held(self, arguments: Mapping[str, object], caller: Caller) -> ToolAnswer:
        """Say how many calls are held now, and whether one was ever cancelled."""
        heard: JsonValue = {"held": self._held, "was_cancelled": self._was_cancelled}
        return ToolAnswer(text="held", structured={"heard": heard})

    async def release(self, arguments: Mapping[str, object], caller: Caller) -> ToolAnswer:
        """Let the held calls go on; later ones are held again."""
        self._gate.set()
        self._gate = anyio.Event()
        return ToolAnswer(text="released", structured={"heard": None})


async def main(wire: StdioWire) -> None:
    """Serve the toy tools."""
    if "--fail" in sys.argv:
        raise FileNotFoundError(SECRET)
    text = INSTRUCTIONS
    if "--instructions" in sys.argv:
        text = sys.argv[sys.argv.index("--instructions") + 1]
    calls = ToyCalls()
    bundle = Bundle(tools=tuple(contract(name) for name in calls.tools))
    await serve_stdio(build_server(bundle, calls, instructions=text, version="7.8.9"), wire=wire)


if __name__ == "__main__":
    print("noise: before the claim, still buffered")  # noqa: T201 - the noise
    atexit.register(print, "noise: at exit")
    run_stdio(main)
