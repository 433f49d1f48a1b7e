"""CIFAR-10 as the workloads see it: raw bytes from the published files, or a stand-in of the same format.

Everything here is standard library, so the same bytes reach every framework.
"""

from __future__ import annotations

from .cifar10 import Cifar10Bytes, load

__all__ = ["Cifar10Bytes", "load"]
