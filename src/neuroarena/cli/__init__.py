"""The command line: verbs only; each calls a function of the rooms above."""

from __future__ import annotations

import errno
import sys

from neuroarena.errors import NeuroarenaError


def main() -> None:
    """Run the command line and exit with its code: 0 fine, 1 the work failed, 2 the input is wrong."""
    from neuroarena.cli.app import app

    try:
        app(prog_name="neuroarena")
    except NeuroarenaError as error:
        print(f"neuroarena: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            # The reader of our output went away, as `| head` does; closing quietly is what it expects.
            sys.stderr.close()
            sys.exit(0)
        where = f"{error.filename}: " if error.filename else ""
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        what = "the disk is full" if full else error.strerror or str(error)
        print(f"neuroarena: {where}{what}. Nothing more was written.", file=sys.stderr)
        sys.exit(2)
