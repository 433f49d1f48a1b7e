"""Waiting policy: what OpenMP threads do while they wait for each other."""

from __future__ import annotations

from pacenote.levers import Lever
from pacenote.records import Scalar


class WaitingPolicy(Lever):
    """Sleep (passive), spin (active), or as the runtime has it (default).

    Passive is the default here: spinning threads take the cores from whoever they wait for (measured on 2 busy cores:
    p95 of a LeNet b32 step 520 ms spinning, 12 ms sleeping). libgomp reads ``OMP_WAIT_POLICY``; Intel's and LLVM's
    runtimes read ``KMP_BLOCKTIME`` (milliseconds of spinning) as well.
    """

    name = "waiting_policy"
    option = "--waiting-policy"
    help = "What waiting threads do: passive, active or default."
    risk = "none"
    choices = ("passive", "active", "default")
    plain = "passive"

    def environ(self, value: Scalar) -> dict[str, str]:
        """Set it before the OpenMP runtime starts."""
        if value == "passive":
            return {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}
        if value == "active":
            return {"OMP_WAIT_POLICY": "active", "KMP_BLOCKTIME": "infinite"}
        return {}


PART = WaitingPolicy()
