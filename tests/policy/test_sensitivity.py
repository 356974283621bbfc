from __future__ import annotations

import pytest

from graymatter_mcp.policy.secrets import looks_secret
from graymatter_mcp.policy.sensitivity import SENSITIVITIES, inferred, is_at_most, stricter

# Joined here, so that no scanner of repositories takes them for leaked keys.
MIXED = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2dF4hJ6kL8n"
SECRETS = [
    "sk-" + MIXED[:16],
    "The key is sk_live_" + MIXED[:16],
    "sk_test_" + MIXED[:16],
    *(f"gh{kind}_" + MIXED[:30] for kind in "pousr"),
    "github_pat_" + MIXED[:30],
    "glpat-" + MIXED[:18],
    *(f"xox{kind}-" + MIXED[:10] for kind in "abprs"),
    "AKIA" + "IOSFODNN7EXAMPLE",
    "ASIA" + "IOSFODNN7ABCDEFG",
    "AIza" + MIXED[:35],
    "hf_" + MIXED[:30],
    "gm_" + MIXED[:40],
    "-----BEGIN " + "PRIVATE KEY-----",
    "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nabc",
    "jwt eyJ" + "hbGciOiJ.eyJ" + "zdWIiOiI." + "abc-_123",
    "Authorization: Bearer " + MIXED[:20],
    "bearer " + "a" * 20,
    "postgres://app:" + "pass@db/prod",
    "redis://:" + "hunter22@cache:6379",
    "API_KEY=" + MIXED[:8],
    'api key: "' + MIXED[:12] + '"',
    "The access key is " + MIXED[:12] + ".",
    "private-key = " + MIXED[:12],
    "client secret: " + MIXED[:12],
    "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI" + "/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "The token is " + MIXED[:9],
    '{"token": "' + MIXED[:9] + '"}',
    "credential: " + MIXED[:9],
    "token: 550e8400-e29b-41d4-a716-446655440000",
    "secret = 9f86d081884c7d659a2feaa0c55ad015",
    "url?x=1&token=" + MIXED[:9],
    "token=token=" + MIXED[:9],
    "password: hunter2",
    "Password is correct-horse-7",
    "passwd=secret!",
    "DB_PWD=abc123",
]
HARMLESS = [
    "The token limit is 4096",
    "speculative tokens: 15",
    "Password is required",
    "The password is required!",
    "A secret is kept in the vault",
    "550e8400-e29b-41d4-a716-446655440000",
    "Commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "password: ${DB_PASSWORD}",
    "password: $DB_PASSWORD_2",
    "password: <your password 1>",
    "token: <TOKEN_1234>",
    "password: ********",
    "api key: xxxxxxxxxxxx",
    "password: changeme1",
    "password=example-1234",
    "token: your-token-123",
    "sk-your-key-goes-right-here",
    "postgres://app:${DB_PASS}@db/prod",
    "https://example.com:8443/path@v2",
    "The secret is /run/secrets/db1/key.txt",
    "pwd: ~/src/app2",
    "token: X-Request-Id",
    "The token is Kubernetes-native",
    "The token is case-insensitive, the password is case-sensitive",
    "token = getAccessToken",
    "token = load_token(1)",
    "token: https://issuer.example/token2",
    "bearer authentication/authorization",
    "task-management-system-overview",
    "risk-assessment-of-the-quarter",
    "token: 12345678",
    "token: aaaaaaa1",
    "secret: Ab1",
    "The tokenizer is all-MiniLM-L6-v2",
    "Das Passwort wird in Vault verwahrt",
]


@pytest.mark.parametrize("content", SECRETS)
def test_each_shape_of_a_secret_is_sensitive(content: str) -> None:
    """Data plane 5.5, D43."""
    assert looks_secret(content)
    assert inferred(None, None, f"Note {content} for later") == ("sensitive", False)


@pytest.mark.parametrize("content", HARMLESS)
def test_words_placeholders_and_paths_are_no_secret(content: str) -> None:
    """Data plane 5.5, D43: the word alone is none."""
    assert not looks_secret(content)
    assert inferred(None, None, content) == ("private", False)


def test_the_field_wins_over_metadata_and_both_over_the_content() -> None:
    """Data plane 5.5: explicit field, legal metadata, content."""
    secret = SECRETS[0]
    assert inferred("public", "internal", secret) == ("public", True)
    assert inferred(None, "internal", secret) == ("internal", True)
    for illegal in ("topsecret", "Public", 3, None, ["public"]):
        assert inferred(None, illegal, secret) == ("sensitive", False)


def test_levels_are_ordered_and_a_missing_one_is_private() -> None:
    """Data plane 5.5: public < internal < private < sensitive."""
    assert SENSITIVITIES == ("public", "internal", "private", "sensitive")
    for low, level in enumerate(SENSITIVITIES):
        for high, limit in enumerate(SENSITIVITIES):
            assert stricter(level, limit) == SENSITIVITIES[max(low, high)]
            assert is_at_most(level, limit) == (low <= high)
    assert stricter("bogus", "public") == stricter("public", None) == "private"
    assert not is_at_most(None, "internal")
    assert is_at_most("bogus", "private")


@pytest.mark.parametrize(
    "piece",
    [
        "token= ",
        "eyJ",
        "sk-a ",
        "://a:",
        "bearer ",
        "-----BEGIN ",
        "password is ",
        "secret_",
        "a://",
    ],
)
def test_a_text_made_of_openings_alone_is_judged(piece: str) -> None:
    """Data plane 5.5: the longest text, made to mislead, ends in an answer and not in a hang."""
    assert not looks_secret(piece * (262_144 // len(piece)))
