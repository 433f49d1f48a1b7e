"""Whether cuDNN tries its algorithms for each new shape and keeps the fastest."""

from __future__ import annotations

from typing import Any

from . import NotApplicable, Outside

FLAG = "FLAGS_cudnn_exhaustive_search"  # PaddlePaddle's

def apply(outside: Outside, value: Any) -> None:
    """Set the switch.

    Raises:
        NotApplicable: Where there is no cuDNN.
    """
    if outside.framework == "pytorch":
        if not outside.module.backends.cudnn.is_available():
            raise NotApplicable("no_cudnn")
        cudnn, was = outside.module.backends.cudnn, outside.module.backends.cudnn.benchmark
        cudnn.benchmark = value == "on"
        outside.undoing(lambda: setattr(cudnn, "benchmark", was))
        return
    if not outside.module.is_compiled_with_cuda():
        raise NotApplicable("no_cudnn")
    before = outside.module.get_flags(FLAG)
    outside.module.set_flags({FLAG: value == "on"})
    outside.undoing(lambda: outside.module.set_flags(before))


def seen(outside: Outside) -> Any:
    """The switch as it stands at the end."""
    if outside.framework == "pytorch":
        cudnn = outside.module.backends.cudnn
        return None if not cudnn.is_available() else ("on" if cudnn.benchmark else "off")
    if not outside.module.is_compiled_with_cuda():
        return None
    flag = outside.module.get_flags(FLAG)[FLAG]
    return "on" if flag else "off"
