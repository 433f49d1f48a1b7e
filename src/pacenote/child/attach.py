"""How a script of the user's comes under the probe without a line of it changed.

:func:`attach` runs at the start of every Python process below ``pacenote run script.py`` (see ``site/``). It waits for
the script to import a framework, hooks that, and from then on leaves what it sees in a spool file. Processes that never
train (loader workers, launchers, helpers) leave no events.
"""

from __future__ import annotations

import atexit
import importlib.util
import inspect
import json
import os
import sys
import time
import types
from collections.abc import Callable, Sequence
from typing import Any, Optional

from . import frameworks, lever_hooks
from .depth import Depth, profilers
from .freerun import FreeRecorder, Stop
from .outside import Outside
from .recorder import USAGE_NAMES, PatchSet, usage
from .spool import SUFFIX, SpoolWriter

FRAMEWORKS = {"torch": "pytorch", "paddle": "paddle"}
"""Module that a script imports, and our name of its adapter."""

JOB = "job.json"
FAILED = ".failed"


current: Optional[Session] = None
"""The session of this process, once :func:`attach` was called."""


def attach(folder: str) -> Session:
    """Watch this process.

    Args:
        folder: Where the job is read from and spool files are left.

    Raises:
        OSError: If the job cannot be read.
        ValueError: If it is no JSON.
    """
    with open(os.path.join(folder, JOB), encoding="utf-8") as file:
        job = json.load(file)
    global current
    current = session = Session(folder, job)
    session.install()
    return session


class Session:
    """What is known of this process while it runs.

    Args:
        folder: Where spool files are left.
        job: What the parent asks: ``steps``, ``seconds``, ``levers``.
    """

    def __init__(self, folder: str, job: dict[str, Any]) -> None:
        self.folder = folder
        self.job = job
        self.began_ns = time.perf_counter_ns()
        self.recorder: Optional[FreeRecorder] = None
        self.adapters: list[frameworks.Adapter] = []
        self.devices: list[str] = []
        self.outside: dict[str, Outside] = {}
        self.patches: dict[str, PatchSet] = {}
        self.is_fork = False
        self.error = ""
        self._usage: tuple[float, ...] = ()
        self._told_facts = False

    def install(self) -> None:
        """Look out for a framework, and for every way in which this process can end."""
        sys.meta_path.insert(0, Finder(self.imported))
        atexit.register(self.end)  # registered first, so it runs last
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self.forking, after_in_child=self.forked)
        leave = os._exit

        def _exit(status: int) -> None:
            self.end(leaving="_exit")
            leave(status)

        os._exit = _exit  # type: ignore[assignment]
        for name in ("execv", "execve"):
            setattr(os, name, self._before_exec(getattr(os, name)))
        hook = sys.excepthook

        def excepthook(kind: Any, error: Any, traceback: Any) -> None:
            self.error = getattr(kind, "__name__", "")
            hook(kind, error, traceback)

        sys.excepthook = excepthook

    def _before_exec(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def execute(*args: Any) -> Any:
            self.end(leaving="exec")
            return original(*args)

        return execute

    def imported(self, name: str, module: Any, seconds: float) -> None:
        """Hook a framework that the script has just imported."""
        try:
            adapter = frameworks.create(FRAMEWORKS[name])
            adapter.module = module
            if self.recorder is None:
                self.recorder = FreeRecorder(self._spool(), self._stop(), self.describe)
            self.adapters.append(adapter)
            patches = adapter.attach_probe(self.recorder, self.noticed, str(self.job.get("data_function") or ""))
            self.patches[adapter.name] = patches
            if self.job.get("levers"):
                self.outside[adapter.name] = Outside(adapter, patches)
                self.outside[adapter.name].apply(self.job["levers"])
            self.recorder.spool.message(self._hello(adapter, import_s=seconds))
            self._usage = usage()
        except Exception as error:  # noqa: BLE001 - the script must run whatever happens to us
            self.failed(error)

    def noticed(self, module: Any, device: str) -> None:
        """A root module was seen for the first time; it is on ``device``."""
        if device not in self.devices:
            self.devices.append(device)
        packages = {cls.__module__.partition(".")[0] for cls in type(module).__mro__}
        for package, framework in FRAMEWORKS.items():
            if package in packages and framework in self.outside:
                self.outside[framework].noticed(module, device)

    def describe(self) -> dict[str, Any]:
        """Facts for one writing: what the process used since the last one, its ranks, and once what it runs on."""
        now = usage()
        facts: dict[str, Any] = {name: new - old for name, new, old in zip(USAGE_NAMES, now, self._usage)}
        self._usage = now
        peak = rss_peak_bytes()
        if peak is not None:
            facts["rss_peak_bytes"] = peak
        adapter = self._training()
        if self.recorder is None or not self.recorder.step or adapter is None:
            return facts
        facts.update(adapter.ranks())
        if self.devices:
            memory = adapter.device_memory(self.devices[0])
            if memory is not None:
                facts["device_memory"] = memory
        if not self._told_facts:
            self._told_facts = True
            facts["framework"] = adapter.facts()
            facts["devices"] = self.devices
            if self.job.get("depth", True) and not facts.get("rank"):
                self.go_deep(adapter)
        return facts

    def go_deep(self, adapter: frameworks.Adapter) -> None:
        """Have some steps recorded in depth later on; of several ranks the first is enough."""
        assert self.recorder is not None
        profiler, on_start = profilers(adapter.name)(adapter.module)
        depth = self.recorder.depth = Depth(self.recorder, profiler)
        on_start(self.patches[adapter.name], depth.cancel)

    def _training(self) -> Optional[frameworks.Adapter]:
        """The framework that trains: the one whose root module was seen, else the first that was imported."""
        return next((one for one in self.adapters if one.name in self._seen()), None) or next(iter(self.adapters), None)

    def _seen(self) -> set[str]:
        objects = self.recorder.objects if self.recorder is not None else []
        return {str(one.get("framework")) for one in objects if one.get("kind") == "optimizer"}

    def end(self, leaving: str = "exit") -> None:
        """This process is about to end."""
        if self.recorder is None or (self.is_fork and not self.recorder.step):
            return
        try:
            if not self._told_facts:
                self.recorder.write()
            adapter = self._training()
            facts: dict[str, Any] = {}
            if adapter is not None:
                facts["missing_names"] = missing_names(self.job.get("names") or [], adapter.module)
            if adapter is not None and self.recorder.step:
                facts["framework"] = adapter.facts()
                if adapter.name in self.outside:
                    facts["levers"] = self._levers(self.outside[adapter.name])
            self.recorder.end(leaving=leaving, error=self.error, lost=self.recorder.spool.lost, **facts)
        except Exception as error:  # noqa: BLE001 - at the end of the interpreter much may be gone already
            self.failed(error)

    def undo(self) -> None:
        """Put back what hooks and levers replaced or set; the process goes on as if nothing had been."""
        try:
            for outside in self.outside.values():
                outside.undo()
        finally:
            for patches in self.patches.values():
                patches.off()

    def _levers(self, outside: Outside) -> dict[str, Any]:
        observed = {**lever_hooks.environment(), **outside.observed()}
        return {"observed": observed, "reasons": outside.reasons, "failure": outside.failure}

    def forking(self) -> None:
        """Before a fork: a profiler that runs would run on in the forked process, where nobody ends it."""
        if self.recorder is not None and self.recorder.depth is not None:
            self.recorder.depth.cancel()

    def forked(self) -> None:
        """In a forked process: leave a file of one's own, if this one trains at all."""
        self.is_fork = True
        self._told_facts = False
        self._usage = usage()
        self.error = ""
        if self.recorder is not None:
            self.recorder.forked(self._spool())
            self.began_ns = time.perf_counter_ns()
            self.recorder.opening = self._hello(self._training(), forked=True)

    def _hello(self, adapter: Optional[frameworks.Adapter], **facts: Any) -> dict[str, Any]:
        return {
            "msg": "hello",
            "pid": os.getpid(),
            "parent_pid": os.getppid(),
            "python": ".".join(map(str, sys.version_info[:3])),
            "executable": sys.executable,
            "began_ns": self.began_ns,
            "t_ns": time.perf_counter_ns(),
            "unix_s": time.time(),
            "framework": adapter.name if adapter is not None else "",
            **facts,
        }

    def failed(self, error: Exception) -> None:
        """Leave word that the probe does not work here."""
        try:
            with open(os.path.join(self.folder, f"{os.getpid()}{FAILED}"), "w", encoding="utf-8") as file:
                file.write(f"{type(error).__name__}: {error}")
        except OSError:
            pass  # the folder is gone as well: the parent reports that no process answered

    def _spool(self) -> SpoolWriter:
        name = f"{os.getpid()}-{time.perf_counter_ns()}{SUFFIX}"
        return SpoolWriter(os.path.join(self.folder, name))

    def _stop(self) -> Stop:
        return Stop(self.folder, self.job.get("steps"), self.job.get("seconds"), self._together)

    def _together(self) -> bool:
        adapter = self._training()
        return adapter is not None and int(adapter.ranks().get("world_size", 1)) > 1


def missing_names(names: Sequence[str], module: Any) -> list[str]:
    """Dotted names that a framework does not have.

    Nothing is imported and no ``__getattr__`` is called. A part that may yet come (a module not imported so far, or
    anything of an object that makes its attributes when asked) is not missing.
    """
    return [name for name in names if name.partition(".")[0] == module.__name__ and not _may_exist(name, module)]


def _may_exist(name: str, module: Any) -> bool:
    owner = module
    for part in name.split(".")[1:]:
        try:
            found = inspect.getattr_static(owner, part)
        except AttributeError:
            kind = owner if isinstance(owner, type) else type(owner)
            dynamic = "__getattr__" in vars(owner) if isinstance(owner, types.ModuleType) else False
            dynamic = dynamic or any("__getattr__" in vars(cls) for cls in kind.__mro__)
            return dynamic or hasattr(owner, "__path__")
        if not isinstance(found, (types.ModuleType, type)):
            return True  # of an instance or a function, nothing can be said without asking it
        owner = found
    return True


def rss_peak_bytes() -> Optional[int]:
    """Largest resident memory of this process so far; None where the kernel does not say."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


class Finder:
    """Finds the frameworks where they would have been found anyway, and tells when one has been imported."""

    def __init__(self, imported: Callable[[str, Any, float], None]) -> None:
        self.imported = imported
        self._busy: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Find a framework through the other finders; ``None`` for every other module."""
        if name not in FRAMEWORKS or name in self._busy:
            return None
        self._busy.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._busy.discard(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self.imported)  # type: ignore[assignment]
        return spec


class _Loader:
    """Loads a module as its own loader would, and tells when that is done."""

    def __init__(self, loader: Any, imported: Callable[[str, Any, float], None]) -> None:
        self.loader = loader
        self.imported = imported

    def create_module(self, spec: Any) -> Any:
        return self.loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = module.__loader__ = self.loader  # nothing of us stays in the module
        began = time.perf_counter()
        self.loader.exec_module(module)
        self.imported(module.__name__, module, time.perf_counter() - began)
