"""``python -m pacenote`` is ``pacenote``."""

from __future__ import annotations

from pacenote.cli.main import main

if __name__ == "__main__":
    main()
