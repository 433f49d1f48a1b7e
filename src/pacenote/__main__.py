"""``python -m pacenote`` is ``pacenote``."""

from pacenote.cli.main import main

if __name__ == "__main__":
    main()
