"""People: accounts, sessions, letters, membership of teams, and what is kept about a person; pure of HTTP."""
