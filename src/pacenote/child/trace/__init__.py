"""Traces one training step without running it: fake tensors on the CPU, no data and no accelerator.

The answer is a JSON document that says nothing of any device: each distinct operation with its phase, shapes,
FLOP and bytes, how often it runs, and the peak of live storage in each phase. It describes *the program that
will run on an accelerator*: where the CPU would do something else (automatic mixed precision, dropout, the
optimizer's loop over tensors) the accelerator's way is traced.
"""

from __future__ import annotations

SCHEMA = 1
"""Version of the document; read by ``pacenote.predict.trace``."""

PHASES = ("forward", "backward", "optimizer")
