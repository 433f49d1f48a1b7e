"""Hand-made event logs and records, with every time known exactly."""

from __future__ import annotations

from array import array
from typing import Any

from pacenote import records
from pacenote.child import events

SPANS = {
    "data_wait": events.DATA_BEGIN,
    "copy": events.COPY_BEGIN,
    "forward": events.FORWARD_BEGIN,
    "loss": events.LOSS_BEGIN,
    "backward": events.BACKWARD_BEGIN,
    "optimizer": events.OPTIMIZER_BEGIN,
    "zero": events.ZERO_BEGIN,
    "user": events.USER_BEGIN,
}


class Script:
    """Writes an event log one happening at a time; ``now_ns`` is its only clock."""

    def __init__(self, now_ns: int = 1_000) -> None:
        self.now_ns = now_ns
        self.t_ns = array("q")
        self.code = array("q")

    def event(self, kind: int, **bits: Any) -> Script:
        self.t_ns.append(self.now_ns)
        self.code.append(events.code(kind, **bits))
        return self

    def wait(self, ns: int) -> Script:
        self.now_ns += ns
        return self

    def begin(self, span: str, **bits: Any) -> Script:
        return self.event(SPANS[span], **bits)

    def end(self, span: str, **bits: Any) -> Script:
        return self.event(SPANS[span] + 1, **bits)

    def span(self, span: str, ns: int, **bits: Any) -> Script:
        return self.begin(span, **bits).wait(ns).end(span, **bits)

    def pause(self, ns: int = 5_000) -> Script:
        return self.event(events.PAUSE).wait(ns)

    def resume(self) -> Script:
        return self.event(events.RESUME)

    def step(self, scale: float = 1.0) -> Script:
        """One ordinary training step of 1,000 ns times ``scale``; 30 ns of it lie in no span."""
        parts = (("data_wait", 100), ("zero", 20), ("forward", 250), ("loss", 50), ("backward", 450))
        for name, ns in parts:
            self.span(name, round(ns * scale)).wait(round(6 * scale))
        return self.span("optimizer", round(100 * scale))

    def log(self) -> records.EventLog:
        return records.EventLog(t_ns=self.t_ns.tobytes(), code=self.code.tobytes())


def training_log(turns: list[list[float]], between_ns: int = 5_000) -> records.EventLog:
    """A log of ordinary steps; ``turns[k][i]`` is how long step ``i`` of turn ``k`` lasts, in seconds."""
    script = Script()
    for steps in turns:
        script.resume()
        for seconds in steps:
            script.step(seconds * 1e9 / 1_000)
        script.pause(between_ns)
    return script.log()


def trial(steps_s: list[list[float]], **changes: Any) -> records.TrialRecord:
    """A finished trial whose steps lasted as ``steps_s[turn]`` says; ``changes`` replace fields of the record."""
    levers = changes.pop("levers", {"batch_size": 32, "threads": 2})
    spec = changes.pop("spec", None) or records.TrialSpec(workload="lenet", framework="pytorch", levers=levers)
    counters = changes.pop("counters", {})
    made = [
        records.Turn(
            turn=number,
            steps=len(steps),
            counters=records.Counters(
                **{"wall_s": sum(steps), "child_cpu_s": sum(steps) * 0.999, **counters},
            ),
        )
        for number, steps in enumerate(steps_s)
    ]
    fields: dict[str, Any] = {
        "id": "t0",
        "spec": spec,
        "spec_hash": spec.hash(),
        "environment_hash": "e0",
        "machine_id": "m0",
        "replicate": changes.get("round", 0),
        "version": "0",
        "started_unix_s": 0.0,
        "effort": records.Effort(),
        "outcome": records.Outcome(status=records.Status.FINISHED, exit_code=0),
        "turns": made,
        "events": training_log(steps_s),
        "samples_per_step": 32,
    }
    return records.TrialRecord(**{**fields, **changes})
