"""A sentence-transformers model in which words of two languages mean the same.

No multilingual model can be had where nothing may be downloaded, so this one stands in: real to
the library that loads it, but its meanings are a list, one axis for each pair of words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

PAIRS: Final = {
    "cat": "katze",
    "sleeps": "schläft",
    "sofa": "sofakissen",
    "invoices": "rechnungen",
    "paid": "bezahlt",
    "days": "tage",
    "train": "zug",
    "leaves": "fährt",
    "noon": "mittag",
}
UNKNOWN: Final = "[UNK]"


def save_model(directory: Path) -> None:
    """Write the model where the library finds it.

    Args:
        directory: Made here.
    """
    # Imported on use: the libraries take seconds, and only who makes the model needs them.
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, StaticEmbedding
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace

    words = [UNKNOWN, *PAIRS.keys(), *PAIRS.values()]
    tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(words)}, unk_token=UNKNOWN))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    meanings = np.eye(len(PAIRS) + 1, dtype=np.float32)
    # What nobody knows has a meaning of its own, but little of it.
    weights = np.concatenate((meanings[:1] * 0.1, meanings[1:], meanings[1:]))
    embedding = StaticEmbedding(tokenizer, embedding_weights=weights)
    SentenceTransformer(modules=[embedding, Normalize()]).save(str(directory))
