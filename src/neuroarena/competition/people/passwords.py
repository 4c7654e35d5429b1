"""Passwords: hashed with argon2id; a check costs the same whether or not there is an account."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from neuroarena.errors import InputError, MissingDependency

if TYPE_CHECKING:
    from argon2 import PasswordHasher

FEWEST, MOST = 10, 200


def refuse_weak(password: str, *about: str) -> None:
    """Refuse a password that is short, endless, one repeated character, or a word about its owner.

    Raises
    ------
    InputError
    """
    if len(password) < FEWEST:
        raise InputError(f"The password is too short: it takes at least {FEWEST} characters.")
    if len(password) > MOST:
        # Hashing takes time by design; a megabyte of password would be somebody else's time.
        raise InputError(f"The password is too long: it takes at most {MOST} characters.")
    if len(set(password)) < 4 or password.casefold() in {word.casefold() for word in about}:
        raise InputError("The password is easy to guess. Choose other words; spaces are allowed.")


def hash_password(password: str) -> str:
    """Return the argon2id hash of a password, with its salt and costs in it."""
    return _hasher().hash(password)


def check_password(kept: str | None, password: str) -> bool:
    """Return whether a password is the one of a hash; without a hash the same work is done, for nothing."""
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        _hasher().verify(kept or _decoy(), password[: MOST + 1])
    except (VerificationError, InvalidHashError):
        return False
    return kept is not None


def needs_rehash(kept: str) -> bool:
    """Return whether a hash was made with other costs than today's."""
    return _hasher().check_needs_rehash(kept)


@functools.cache
def _hasher() -> PasswordHasher:
    try:
        from argon2 import PasswordHasher
    except ImportError as error:
        raise MissingDependency("argon2-cffi", "competition", "Accounts with passwords") from error
    # One lane: the work of a check is bounded by one core, and 50 checks at once by 50 times 19 MB (RFC 9106 allows
    # both; these are the costs that OWASP recommends for argon2id).
    return PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


@functools.cache
def _decoy() -> str:
    return _hasher().hash("nobody has this password")
