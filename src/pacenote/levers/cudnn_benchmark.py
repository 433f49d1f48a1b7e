"""Whether cuDNN tries its algorithms for each new shape."""

from __future__ import annotations

from pacenote.levers import Switch


class CudnnBenchmark(Switch):
    """Whether cuDNN tries its algorithms for each new shape.

    For scripts; its hook is :mod:`pacenote.child.outside.cudnn_benchmark`.
    """

    name = "cudnn_benchmark"
    option = "--cudnn-benchmark"
    help = "Let cuDNN try its algorithms: on or off."
    risk = "numerics"


PART = CudnnBenchmark()
