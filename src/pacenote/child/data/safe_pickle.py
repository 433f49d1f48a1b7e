"""Opens a CIFAR-10 pickle without letting it run anything.

A pickle names callables and has them called. This one admits the handful that a pickled byte array needs, and
none of them is the real thing: each name maps to a small object of this module that only collects bytes. So
neither numpy nor anything else is imported, called or changed by the file.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from ..errors import BadDataError


class ByteArray:
    """A pickled array of unsigned bytes: its shape and its bytes in C order."""

    __slots__ = ("data", "shape")

    def __init__(self) -> None:
        self.shape: tuple[int, ...] = ()
        self.data = b""

    def __setstate__(self, state: object) -> None:
        """Take (version, shape, dtype, Fortran order?, bytes) as numpy pickles them."""
        if not (isinstance(state, tuple) and len(state) == 5):
            raise pickle.UnpicklingError("array state of an unknown form")
        _, shape, dtype, fortran, data = state
        if isinstance(data, str):  # written by Python 2, read with encoding "bytes": already bytes; else latin-1
            data = data.encode("latin-1")
        self.fill(shape, dtype, data, in_order=not fortran)

    def fill(self, shape: object, dtype: object, data: object, *, in_order: bool) -> None:
        """Check and keep the parts."""
        if not isinstance(dtype, _ByteType) or not in_order:
            raise pickle.UnpicklingError("only arrays of unsigned bytes in C order are admitted")
        if not (isinstance(shape, tuple) and all(type(size) is int and size >= 0 for size in shape)):
            raise pickle.UnpicklingError("array shape of an unknown form")
        if not isinstance(data, (bytes, bytearray)):
            raise pickle.UnpicklingError("array content is not bytes")
        expected = 1
        for size in shape:
            expected *= size
        if expected != len(data):
            raise pickle.UnpicklingError(f"array of shape {shape} with {len(data)} bytes")
        self.shape, self.data = shape, bytes(data)


class _Admitted:
    """A name the pickle may mention. No attribute can be set on it (no ``__dict__``), and it refuses state."""

    __slots__ = ()

    def __setstate__(self, state: object) -> None:
        raise pickle.UnpicklingError("state set on a global")

    def __call__(self, *arguments: Any) -> Any:
        raise pickle.UnpicklingError(f"{type(self).__name__.strip('_')} called")


class _ArrayName(_Admitted):
    """Stands for ``numpy.ndarray``, which is mentioned but not called."""

    __slots__ = ()


class _ByteType(_Admitted):
    """Stands for the data type of unsigned bytes; the rest of a dtype's state says nothing about bytes."""

    __slots__ = ()

    def __setstate__(self, state: object) -> None:
        if not isinstance(state, tuple):
            raise pickle.UnpicklingError("dtype state of an unknown form")


class _MakeType(_Admitted):
    """Stands for ``numpy.dtype``."""

    __slots__ = ()

    def __call__(self, *arguments: Any) -> Any:
        if not arguments or arguments[0] not in ("u1", b"u1", "|u1", b"|u1"):
            raise pickle.UnpicklingError("only the data type u1 is admitted")
        return _ByteType()


class _Reconstruct(_Admitted):
    """Stands for ``numpy.core.multiarray._reconstruct`` (pickle protocols 0-4)."""

    __slots__ = ()

    def __call__(self, *arguments: Any) -> Any:
        if not arguments or not isinstance(arguments[0], _ArrayName):
            raise pickle.UnpicklingError("only plain arrays are admitted")
        return ByteArray()


class _FromBuffer(_Admitted):
    """Stands for ``numpy.core.numeric._frombuffer`` (pickle protocol 5)."""

    __slots__ = ()

    def __call__(self, *arguments: Any) -> Any:
        if len(arguments) != 4:
            raise pickle.UnpicklingError("array buffer of an unknown form")
        buffer, dtype, shape, order = arguments
        array = ByteArray()
        array.fill(shape, dtype, buffer, in_order=order == "C")
        return array


class _Encode(_Admitted):
    """Stands for ``_codecs.encode``, by which Python 3 writes bytes in pickle protocol 2."""

    __slots__ = ()

    def __call__(self, *arguments: Any) -> Any:
        if len(arguments) != 2 or not isinstance(arguments[0], str) or arguments[1] != "latin1":
            raise pickle.UnpicklingError("only text to latin1 is admitted")
        return arguments[0].encode("latin-1")


_NUMPY = ("numpy", "numpy.core.multiarray", "numpy._core.multiarray", "numpy.core.numeric", "numpy._core.numeric")
_ADMITTED: dict[tuple[str, str], _Admitted] = {("_codecs", "encode"): _Encode()}
for _module in _NUMPY:
    _ADMITTED[_module, "ndarray"] = _ArrayName()
    _ADMITTED[_module, "dtype"] = _MakeType()
    _ADMITTED[_module, "_reconstruct"] = _Reconstruct()
    _ADMITTED[_module, "_frombuffer"] = _FromBuffer()


class _Unpickler(pickle.Unpickler):
    """Admits the names above and plain values, nothing else."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """Return the stand-in for an admitted name."""
        try:
            return _ADMITTED[module_name, global_name]
        except KeyError:
            raise pickle.UnpicklingError(f"it asks for {module_name}.{global_name}") from None

    def persistent_load(self, pid: Any) -> Any:
        """Refuse references to outside objects."""
        raise pickle.UnpicklingError("it refers to an object outside the file")


def loads(raw: bytes, path: str) -> object:
    """Open a pickle that holds only bytes, str, int, list, dict, tuple and arrays of unsigned bytes.

    Raises:
        BadDataError: If it holds anything else or is damaged; nothing in it was run.
    """
    try:
        value = _Unpickler(io.BytesIO(raw), encoding="bytes").load()
    except Exception as error:  # noqa: BLE001 - a hostile pickle can make the unpickler raise anything
        text = str(error) or type(error).__name__
        raise BadDataError(f"{path}: refused, this pickle is no CIFAR-10 batch ({text}).") from None
    return value
