"""A scripted engine, machine, clock and store: the runner's world in milliseconds, with exact numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fake_trials import Script

from pacenote.child import events
from pacenote.engines import ChildEndedError
from pacenote.records import Counters, Environment, Outcome, Reading, Sensors, Status, TrialRecord
from pacenote.system.process import Footprint


class FakeClock:
    """Moves only when told."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def monotonic_s(self) -> float:
        return self.now_s

    def unix_s(self) -> float:
        return 1_700_000_000.0 + self.now_s


class FakeWatch:
    def __init__(self) -> None:
        self.log: list[str] = []

    def begin(self) -> None:
        self.log.append("begin")

    def end(self) -> None:
        self.log.append("end")

    def result(self) -> Sensors:
        return Sensors(cpu_energy_j=Reading(value=float(self.log.count("end")), method="measured"))

    def close(self) -> None:
        self.log.append("close")


class FakeMeters:
    """Every turn takes what the clock says and costs the child all of it."""

    def __init__(self, clock: FakeClock, available_bytes: float | None = None) -> None:
        self.clock = clock
        self.available = available_bytes
        self.watches: list[FakeWatch] = []
        self.version = "1"

    def before(self) -> dict[str, Any]:
        return {"load_1min": 0.0}

    def read(self, pid: int) -> float:
        return self.clock.now_s

    def difference(self, before: float, after: float) -> Counters:
        return Counters(wall_s=after - before, child_cpu_s=after - before, minor_faults=2, major_faults=0)

    def footprint(self, pid: int) -> Footprint:
        size = Reading(value=2.0**20 * pid, method="measured")
        none = Reading(reason="x")
        return Footprint(rss_bytes=size, rss_peak_bytes=size, pss_bytes=size, swap_bytes=none, processes=1)

    def watch(self, device: str) -> FakeWatch:
        self.watches.append(FakeWatch())
        return self.watches[-1]

    def environment(self, framework: Mapping[str, Any], variables: Mapping[str, str]) -> Environment:
        return Environment(facts={"framework": dict(framework), "machine": self.version})

    def available_bytes(self) -> float | None:
        return self.available


class FakeKeeper:
    """A store in memory."""

    def __init__(self) -> None:
        self.kept: list[tuple[str | None, TrialRecord]] = []
        self.environments: dict[str, Environment] = {}

    def put_trial(self, record: TrialRecord, study_id: str | None = None) -> None:
        self.kept.append((study_id, record))

    def put_environment(self, environment: Environment) -> str:
        self.environments[environment.hash()] = environment
        return environment.hash()

    @property
    def records(self) -> list[TrialRecord]:
        return [record for _, record in self.kept]


Failure = Callable[["FakeChild", str], None]


def ends_with(status: Status, at: str, **facts: Any) -> Failure:
    """A failure that happens at ``ready``, ``turn 3`` or ``finish``."""

    def fail(child: FakeChild, moment: str) -> None:
        if moment == at:
            raise ChildEndedError(Outcome(status=status, **facts))

    return fail


class FakeChild:
    """A child whose steps take ``step_s`` on the fake clock."""

    def __init__(self, engine: FakeEngine, number: int, job: dict[str, Any], environ: dict[str, str]) -> None:
        self.engine = engine
        self.pid = number
        self.job = job
        self.environ = environ
        self.alive = True
        self._answer: dict[str, Any] = {}

    @property
    def name(self) -> str:
        return str(self.job["levers"].get("name", self.job["framework"]))

    def answer(self, kind: str, timeout_s: float) -> dict[str, Any]:
        engine = self.engine
        if kind == "hello":
            return {"msg": "hello", "python": "3.11", "t_ns": int((engine.clock.now_s + 0.1) * 1e9)}
        if kind == "ready":
            engine.clock.now_s += engine.start_s
            self._moment("ready")
            cold = {"import_s": engine.start_s, "build_s": 0.5, "strange_s": 1.0}
            return {"msg": "ready", "cold_start": cold, "framework": {"name": "fake"}, "data": {"source": "fake"}}
        assert kind == self._answer["msg"]
        return self._answer

    def begin_turn(self, turn: int, *, seconds: float | None, steps: int | None) -> None:
        engine = self.engine
        engine.log.append((self.name, turn))
        self._moment(f"turn {turn}")
        step_s = engine.step_s(self)
        count = steps if steps is not None else max(1, round((seconds or 0.0) / step_s))
        script = Script(now_ns=round(engine.clock.now_s * 1e9) + 10 * turn)  # never before the last pause
        script.resume()
        for _ in range(count):
            script.step(step_s * 1e9 / 1000)
        script.pause()
        engine.clock.now_s += count * step_s
        self._answer = {
            "msg": "turn",
            "turn": turn,
            "steps": count,
            "t_ns": events.pack(script.t_ns),
            "code": events.pack(script.code),
            "losses": [[0, 2.0]],
            "copied_bytes": 8,
            "device_memory": None,
        }

    def begin_finish(self) -> None:
        self._moment("begin_finish")

    def finish(self, timeout_s: float, *, grace_s: float) -> tuple[dict[str, Any], Outcome]:
        self._moment("finish")
        self.alive = False
        self.engine.clock.now_s += self.engine.finish_s
        done = {
            "msg": "done",
            "objects": [{"kind": "optimizer", "name": "SGD"}],
            "observed": {**self.job["levers"], "debug_flags": {"anomaly_mode": False}},
            "flop_per_sample": 1e6,
            "samples_per_step": 32,
        }
        return done, Outcome(status=Status.FINISHED, exit_code=0)

    def kill(self) -> None:
        self.alive = False

    def _moment(self, moment: str) -> None:
        failure = self.engine.failures.get(self.name)
        if failure is not None:
            failure(self, moment)


class FakeEngine:
    """Starts scripted children and writes down who trained when."""

    name = "fake"

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.children: list[FakeChild] = []
        self.log: list[tuple[str, int]] = []
        self.failures: dict[str, Failure] = {}
        self.step_s: Callable[[FakeChild], float] = lambda child: 0.02
        self.start_s = 2.0
        self.finish_s = 0.0

    def start(self, job: dict[str, Any], *, python: str | None, environ: dict[str, str]) -> FakeChild:
        self.children.append(FakeChild(self, len(self.children) + 1, job, environ))
        return self.children[-1]
