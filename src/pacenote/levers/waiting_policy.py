"""Waiting policy: what OpenMP threads do while they wait for each other."""

from __future__ import annotations

from pacenote.levers import Lever
from pacenote.records import Scalar


class WaitingPolicy(Lever):
    """Sleep (passive), spin (active), or as the runtime has it (default).

    Passive is the default here: spinning threads take the cores from whoever they wait for (measured on 2 busy cores:
    p95 of a LeNet b32 step 520 ms spinning, 12 ms sleeping). libgomp reads ``OMP_WAIT_POLICY`` and, for how long a
    thread looks before it sleeps, ``GOMP_SPINCOUNT``; Intel's and LLVM's runtimes read ``KMP_BLOCKTIME``
    (milliseconds of spinning).

    A very short look is part of passive where it is free. LeNet b32, PyTorch, 2 threads on 2 cores, ms per step idle
    and beside a busy process: no look 8.7 and 12.0, 300 looks 7.4 and 12.0, 1000 looks 6.2 and 16.0, 100,000 looks
    6.2 and 234. With Intel's runtime (Paddle, the same network) none is free: no spinning 25.3 and 17.4, the shortest
    it takes (1 µs) 12.6 and 26.6 with a p95 of 219; one thread, which waits for nobody, 8.9 and 8.8.
    """

    LOOKS = "300"

    name = "waiting_policy"
    option = "--waiting-policy"
    help = "What waiting threads do: passive, active or default."
    risk = "none"
    choices = ("passive", "active", "default")
    plain = "passive"

    def environ(self, value: Scalar) -> dict[str, str]:
        """Set it before the OpenMP runtime starts."""
        if value == "passive":
            return {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": self.LOOKS, "KMP_BLOCKTIME": "0"}
        if value == "active":
            return {"OMP_WAIT_POLICY": "active", "KMP_BLOCKTIME": "infinite"}
        return {}


PART = WaitingPolicy()
