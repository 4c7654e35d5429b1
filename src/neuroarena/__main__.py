"""``python -m neuroarena``."""

from __future__ import annotations

from neuroarena.cli import main

if __name__ == "__main__":
    main()
