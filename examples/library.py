"""Use graymatter as a library: the same memory without a server, blocking and async.

python examples/library.py [DATA_DIR]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import anyio

from graymatter_mcp import (
    AsyncMemory,
    Config,
    GraymatterError,
    Memory,
    NoCheckpointsError,
    RecallOptions,
    WriteOptions,
)

AGENT = "webshop"


def blocking(data_dir: Path) -> None:
    """Store, search and save with the blocking facade."""
    with Memory(data_dir) as memory:
        memory.remember(AGENT, "Deploys need two approvals.")
        fact = memory.remember_with_options(
            AGENT, "Passwords live in the vault.", WriteOptions(confidence="verified")
        )
        print("stored", fact.id, fact.confidence)

        # Vectors are made in the background; until then a search goes by words and age.
        memory.wait_until_settled()
        print("found", memory.recall(AGENT, "where are the credentials?")[0])

        only_sure = RecallOptions(min_confidence="verified")
        explained = memory.recall_explain_with_options(AGENT, "approvals", only_sure)
        for receipt in explained.receipts:
            print("receipt", receipt.text, receipt.ranks)

        store = memory.advanced()
        try:
            store.resume_checkpoint(AGENT)
        except NoCheckpointsError:
            print("no checkpoint yet")
        store.save_checkpoint(AGENT, {"goal": "release 2.1"})


async def asynchronous(data_dir: Path) -> None:
    """Go on in the same directory with the async core, and a configuration of its own."""
    async with await AsyncMemory.open(Config(data_dir=data_dir, top_k=1)) as memory:
        print("resumed", (await memory.advanced().resume_checkpoint(AGENT)).state)
        print("found", await memory.recall(AGENT, "approvals"))
        try:
            await memory.recall(" ", "a blank name is no namespace")
        except GraymatterError as exc:
            print("refused", exc.code, exc)


def main(data_dir: Path) -> None:
    """Run both halves."""
    blocking(data_dir)
    anyio.run(asynchronous, data_dir)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as directory:
            main(Path(directory) / "memory")
