"""How the ranks of one trial start: one file each; ``single`` starts one process."""

from __future__ import annotations
