"""Whether cuDNN tries its algorithms for each new shape."""

from __future__ import annotations

from pacenote.levers import Lever


class CudnnBenchmark(Lever):
    """Whether cuDNN tries its algorithms for each new shape.

    For scripts; its hook is :mod:`pacenote.child.outside.cudnn_benchmark`.
    """

    name = "cudnn_benchmark"
    option = "--cudnn-benchmark"
    help = "Let cuDNN try its algorithms: on or off."
    risk = "numerics"
    choices = ("on", "off")
    plain = "off"


PART = CudnnBenchmark()
