"""Competitions: phases, teams, submissions, a queue, sealed truth and receipts, on SQLite or PostgreSQL."""

from __future__ import annotations

from neuroarena.lazily import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        ".arena": ("Arena", "create_arena", "open_arena"),
        ".configuration": ("Competition", "Phase", "Track", "read_competition"),
        ".intake": ("dry_run", "submit", "withdraw"),
        ".receipts": ("list_submissions", "read_receipt"),
        ".sealing": ("seal_track",),
        ".teams": ("accept_terms", "add_team", "issue_token", "revoke_token"),
        ".worker": ("work",),
    },
    extra="competition",
    libraries=("sqlalchemy", "alembic"),
)
