"""The child's life from job to answer, run in this process with a scripted parent at the pipes."""

from __future__ import annotations

import json
import os
import sys
import types
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from ending import ended

from pacenote.child import calibrate, errors, frameworks, lever_hooks, main, workloads
from pacenote.child import channel as channel_module
from pacenote.child.faults import Fault
from pacenote.child.frameworks import simulated
from pacenote.child.protocol import CONTROL_FD_VARIABLE, ERROR_KINDS, MESSAGES, RESULT_FD_VARIABLE
from pacenote.child.recorder import PatchSet, Recorder

FINISH: dict[str, Any] = {"cmd": "finish"}

Life = Callable[..., list[dict[str, Any]]]


class Gone(BaseException):
    """Stands for the end of the process."""


def turn(number: int, steps: int = 3) -> dict[str, Any]:
    return {"cmd": "turn", "turn": number, "seconds": None, "steps": steps}


@pytest.fixture
def life(monkeypatch: pytest.MonkeyPatch) -> Life:
    """Run ``main`` on these commands and return its messages; the exit code is in ``life.code``."""
    monkeypatch.setattr(channel_module.os, "register_at_fork", lambda **_: None, raising=False)

    def run(*commands: dict[str, Any]) -> list[dict[str, Any]]:
        left: list[int] = []

        def leave(code: int) -> None:
            left.append(code)
            patch.setattr(channel_module.Channel, "send", lambda channel, message: None)  # nothing follows an exit
            raise Gone

        control_read, control_write = os.pipe()
        result_read, result_write = os.pipe()
        os.write(control_write, b"".join(json.dumps(command).encode() + b"\n" for command in commands))
        os.close(control_write)
        monkeypatch.setenv(CONTROL_FD_VARIABLE, str(control_read))
        monkeypatch.setenv(RESULT_FD_VARIABLE, str(result_write))
        with monkeypatch.context() as patch:
            patch.setattr("os._exit", leave)
            code = main.main()
        run.code = ("exit", *left) if left else code  # type: ignore[attr-defined]
        os.close(control_read)
        os.close(result_write)
        with os.fdopen(result_read, "rb") as answers:
            messages = [json.loads(line) for line in answers]
        assert all(message["msg"] in MESSAGES for message in messages)
        return messages

    return run


def kinds(messages: list[dict[str, Any]]) -> list[str]:
    return [message["msg"] for message in messages]


def job(**more: Any) -> dict[str, Any]:
    return {"cmd": "job", "action": "train", "framework": "simulated", **more}


class Fake(simulated.Adapter):
    """An adapter under a name of its own, so that real workloads and hooks are used with it."""

    name = "fake"

    def __init__(self, **answers: Any) -> None:
        super().__init__()
        self.answers = answers
        self.module = types.ModuleType("fake")
        self.calls: list[Any] = []

    def load(self) -> None:
        self.calls.append("load")
        if "load" in self.answers:
            raise self.answers["load"]

    def devices(self) -> list[dict[str, Any]]:
        return self.answers.get("devices", super().devices())  # type: ignore[no-any-return]

    def seed(self, value: int) -> None:
        self.calls.append(("seed", value))

    def synchronize(self, device: str) -> None:
        self.calls.append(("synchronize", device))

    def reset_peak(self, device: str) -> None:
        self.calls.append(("reset_peak", device))

    def set_threads(self, count: int) -> None:
        self.calls.append(("threads", count))
        super().set_threads(count)

    def facts(self) -> dict[str, Any]:
        return {**super().facts(), "debug_flags": {"anomaly_mode": True}}

    def install_probe(self, recorder: Recorder, device: str) -> PatchSet:
        self.calls.append("probe")
        return super().install_probe(recorder, device)

    def is_out_of_memory(self, error: BaseException) -> bool:
        return "no room" in str(error)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Fake]:
    """Make the job's framework a fake with these answers."""

    def make(**answers: Any) -> Fake:
        made = Fake(**answers)
        monkeypatch.setattr(frameworks, "create", lambda name: made)
        return made

    return make


@pytest.fixture
def workload(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[workloads.Request]]:
    """Make the job's workload one that runs this function; return the requests it got."""

    def make(run: Callable[[Recorder], None], **training: Any) -> list[workloads.Request]:
        asked: list[workloads.Request] = []

        def builder(request: workloads.Request) -> workloads.Training:
            asked.append(request)
            made = {"samples_per_step": 4, "data": {"source": "made-up", "prepare_s": 0.25}, **training}
            return workloads.Training(lambda: run(request.adapter.recorder), **made)

        found = workloads.Workload(
            "mine", {"fake": builder}, defaults={}, axes=(), flop_per_sample=lambda levers: 10.0 * levers["width"],
            parameters=lambda levers: 1,
        )  # fmt: skip
        monkeypatch.setattr(workloads, "find", lambda name, file=None: found)
        return asked

    return make


def for_ever(recorder: Recorder) -> None:
    while True:
        ended(recorder)


def fake_job(**more: Any) -> dict[str, Any]:
    return job(framework="fake", workload="mine", levers={"width": 2}, **more)


class TestOrder:
    def test_a_training_from_hello_to_done(self, life: Life) -> None:
        messages = life(job(), turn(0), turn(1), FINISH)
        assert kinds(messages) == ["hello", "ready", "turn", "turn", "done"]
        assert [message["turn"] for message in messages[2:4]] == [0, 1]
        assert life.code == main.EXIT_OK  # type: ignore[attr-defined]

    def test_hello_says_who_speaks(self, life: Life) -> None:
        hello = life(job(), FINISH)[0]
        assert (hello["pid"], hello["executable"]) == (os.getpid(), sys.executable)
        assert hello["python"] == ".".join(map(str, sys.version_info[:3]))

    def test_without_a_job_there_is_nothing_to_say(self, life: Life) -> None:
        assert kinds(life()) == ["hello"]
        assert life.code == main.EXIT_OK  # type: ignore[attr-defined]

    def test_finish_before_the_first_turn_is_answered(self, life: Life) -> None:
        assert kinds(life(job(), FINISH)) == ["hello", "ready", "done"]

    def test_a_parent_that_goes_between_turns_ends_the_child(self, life: Life) -> None:
        assert kinds(life(job(), turn(0))) == ["hello", "ready", "turn"]
        assert life.code == ("exit", 0)  # type: ignore[attr-defined]

    def test_done_says_what_was_seen(self, life: Life) -> None:
        levers = {"batch_size": 16, "noise": 0.0}
        done = life(job(levers=levers), turn(0), FINISH)[-1]
        assert done["samples_per_step"] == 16
        assert done["observed"] == {**levers, "debug_flags": {}}
        assert (done["parameters"], done["flop_per_sample"]) == (0, None)
        assert [device["name"] for device in done["devices"]] == ["cpu"]

    def test_ready_says_how_long_each_part_of_the_start_took(self, life: Life) -> None:
        ready = life(job(), FINISH)[1]
        assert set(ready["cold_start"]) == {"import_s", "device_init_s", "build_s", "data_s"}
        assert ready["data"] == {"source": "simulated"}
        assert ready["framework"]["name"] == "simulated"

    @pytest.mark.parametrize("ratio", [1.0, 1.1, 3.0])
    def test_a_planted_slowdown_reaches_the_steps(self, life: Life, ratio: float) -> None:
        script = {"script": "forward=10ms"}
        message = life(job(levers=script, planted_slowdown_ratio=ratio), turn(0, steps=5), FINISH)[2]
        assert message["wall_s"] == pytest.approx(0.05 * ratio)


class TestTraining:
    def test_everything_is_done_in_its_order(
        self, life: Life, fake: Callable[..., Fake], workload: Callable[..., Any]
    ) -> None:
        adapter = fake()
        workload(for_ever)
        life(job(framework="fake", workload="mine", seed=7, levers={"width": 2, "threads": 3}), FINISH)
        assert adapter.calls == [
            "load",
            ("synchronize", "cpu"),
            ("threads", 3),
            "probe",
            ("seed", 7),
            ("reset_peak", "cpu"),
        ]

    def test_the_builder_gets_what_the_job_says(
        self, life: Life, fake: Callable[..., Fake], workload: Callable[..., Any]
    ) -> None:
        fake()
        asked = workload(for_ever)
        more = {"data_mode": "device", "data_dir": "/data", "cache_dir": "/cache", "seed": 3, "device": "cpu"}
        life(fake_job(**more), FINISH)
        [request] = asked
        assert {name: getattr(request, name) for name in more} == more
        assert request.levers == {"width": 2}

    def test_flop_and_parameters_come_from_the_workload(
        self, life: Life, fake: Callable[..., Fake], workload: Callable[..., Any]
    ) -> None:
        fake()
        workload(for_ever, parameters=12)
        messages = life(fake_job(), turn(0), FINISH)
        assert messages[1]["cold_start"]["data_s"] == 0.25
        done = messages[-1]
        assert (done["flop_per_sample"], done["samples_per_step"], done["parameters"]) == (20.0, 4, 12)
        assert done["observed"]["debug_flags"] == {"anomaly_mode": True}

    @pytest.mark.parametrize(
        ("data_mode", "anchor"), [("real", "optimizer"), ("device", "optimizer"), ("loader", "data")]
    )
    def test_the_end_of_a_step_depends_on_the_data_mode(
        self, data_mode: str, anchor: str, life: Life, fake: Callable[..., Fake], workload: Callable[..., Any]
    ) -> None:
        def both(recorder: Recorder) -> None:
            while True:
                ended(recorder, "data")
                ended(recorder, "data")
                ended(recorder)
                seen.append(recorder.anchor)

        seen: list[str] = []
        fake()
        workload(both)
        messages = life(fake_job(data_mode=data_mode), turn(0, steps=4), FINISH)
        assert messages[2]["steps"] == 4
        assert set(seen) == {anchor}

    def test_the_gate_stays_open_while_levers_are_looked_at(
        self, life: Life, fake: Callable[..., Fake], workload: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def look(adapter: Fake, training: Any, levers: dict[str, Any]) -> dict[str, Any]:
            for _ in range(100):
                ended(adapter.recorder)
                ended(adapter.recorder, "data")
            return {"dtype": "fp32"}

        fake()
        workload(for_ever)
        monkeypatch.setattr(lever_hooks, "observe", look)
        messages = life(fake_job(), turn(0), FINISH)
        assert kinds(messages) == ["hello", "ready", "turn", "done"]
        assert messages[-1]["observed"]["dtype"] == "fp32"

    def test_a_training_that_ends_by_itself_is_told(
        self, life: Life, fake: Callable[..., Fake], workload: Callable[..., Any]
    ) -> None:
        fake()
        workload(lambda recorder: [ended(recorder) for _ in range(2)])
        messages = life(fake_job(), turn(0, steps=9), FINISH)
        assert kinds(messages) == ["hello", "ready", "error"]
        assert messages[-1]["kind"] == "unsupported"
        assert "ended by itself after 2 steps" in messages[-1]["text"]


class TestErrors:
    @pytest.mark.parametrize(
        ("error", "kind"),
        [
            (errors.BadDataError("x"), "bad_data"),
            (errors.UnsupportedError("x"), "unsupported"),
            (errors.MissingDeviceError("x"), "missing_device"),
            (errors.MissingFrameworkError("x"), "missing_framework"),
            (errors.ChildError("x"), "exception"),
            (MemoryError("x"), "out_of_memory"),
            (RuntimeError("no room on the device"), "out_of_memory"),
            (RuntimeError("shapes differ"), "exception"),
            (KeyboardInterrupt(), "exception"),
            (SystemExit(3), "exception"),
        ],
        ids=repr,
    )
    def test_each_kind_of_error_in_the_loop(
        self, error: BaseException, kind: str, life: Life, fake: Callable[..., Fake], workload: Callable[..., Any]
    ) -> None:
        def broken(recorder: Recorder) -> None:
            raise error

        fake()
        workload(broken)
        messages = life(fake_job(), turn(0), FINISH)
        assert kinds(messages) == ["hello", "ready", "error"]
        last = messages[-1]
        assert (last["kind"], last["type"], last["text"]) == (kind, type(error).__name__, str(error))
        assert last["kind"] in ERROR_KINDS
        assert last["where"].startswith("test_main.py:")
        assert type(error).__name__ in last["traceback"]
        assert life.code == main.EXIT_FAILED  # type: ignore[attr-defined]

    def test_long_texts_are_cut(self) -> None:
        told = main.describe_error(ValueError("x" * 99_999), None)
        assert len(told["text"]) == 2000
        assert len(told["traceback"]) == 8000

    def test_an_error_that_was_never_raised_has_no_place(self) -> None:
        assert main.describe_error(ValueError("x"), None)["where"] == ""

    def test_an_error_that_cannot_be_printed_is_told_by_its_type(self) -> None:
        class MuteError(Exception):
            def __str__(self) -> str:
                raise ZeroDivisionError

        told = main.describe_error(MuteError(), None)
        assert (told["type"], told["text"], told["kind"]) == ("MuteError", "", "exception")

    def test_an_adapter_that_is_not_loaded_is_not_asked_about_memory(self) -> None:
        adapter = Fake()
        adapter.module = None
        assert main.describe_error(RuntimeError("no room"), adapter)["kind"] == "exception"

    @pytest.mark.parametrize(
        ("more", "kind", "words"),
        [
            ({"action": "dance"}, "KeyError", "dance"),
            ({"framework": "jax"}, "LookupError", "unknown framework 'jax'"),
            ({"fault": {"kind": "melt"}}, "ValueError", "unknown fault"),
            ({"levers": {"script": "sleep=1ms"}}, "ValueError", "cannot read"),
            ({"device": "cuda"}, "MissingDeviceError", "unknown_device"),
            ({"fault": {"kind": "exception", "at": "start"}}, "RuntimeError", "planted"),
            ({"fault": {"kind": "exception", "at": "import"}}, "RuntimeError", "planted"),
            ({"fault": {"kind": "memory_error", "at": "build"}}, "MemoryError", "planted"),
        ],
        ids=str,
    )
    def test_a_job_that_cannot_be_done_is_answered_before_it_is_ready(
        self, life: Life, more: dict[str, Any], kind: str, words: str
    ) -> None:
        messages = life(job(**more), turn(0), FINISH)
        assert kinds(messages) == ["hello", "error"]
        assert messages[-1]["type"] == kind
        assert words in messages[-1]["text"]

    def test_a_fault_in_a_step_ends_the_turn(self, life: Life) -> None:
        messages = life(job(fault={"kind": "memory_error", "step": 4}), turn(0), turn(1), FINISH)
        assert kinds(messages) == ["hello", "ready", "turn", "error"]
        assert messages[-1]["kind"] == "out_of_memory"

    @pytest.mark.parametrize(
        "error", [ImportError("No module named 'x'"), OSError("libcudart.so.12: cannot open shared object file")]
    )
    def test_a_framework_that_is_missing_or_broken(
        self, error: Exception, life: Life, fake: Callable[..., Fake], workload: Callable[..., Any]
    ) -> None:
        fake(load=error)
        messages = life(fake_job(), FINISH)
        assert kinds(messages) == ["hello", "error"]
        assert (messages[-1]["kind"], messages[-1]["text"]) == ("missing_framework", str(error))

    def test_a_workload_without_this_framework(self, life: Life, fake: Callable[..., Fake]) -> None:
        fake()
        message = life(job(framework="fake", workload="lenet"), FINISH)[-1]
        assert message["kind"] == "unsupported"
        assert "lenet is not written for fake" in message["text"]

    def test_an_unknown_workload(self, life: Life, fake: Callable[..., Fake]) -> None:
        fake()
        message = life(job(framework="fake", workload="resnet"), FINISH)[-1]
        assert (message["kind"], message["type"]) == ("unsupported", "UnsupportedError")

    def test_a_third_partys_file(self, life: Life, fake: Callable[..., Fake], tmp_path: Any) -> None:
        fake()
        file = tmp_path / "absent.py"
        message = life(job(framework="fake", workload="other", workload_file=str(file)), FINISH)[-1]
        assert message["kind"] == "unsupported"
        assert str(file) in message["text"]


def device(name: str, reason: str = "") -> dict[str, Any]:
    return {"name": name, "kind": name.partition(":")[0], "available": not reason, "reason": reason}


class TestCheckDevice:
    @pytest.mark.parametrize(
        ("there", "asked"),
        [
            (["cpu"], "cpu"),
            (["cpu", "cuda"], "cuda"),
            (["cpu", "cuda"], "cuda:0"),
            (["cpu", "cuda:0", "cuda:1"], "cuda:1"),
            (["cpu", "cuda:0", "cuda:1"], "cuda"),
        ],
    )
    def test_a_device_that_is_there(self, there: list[str], asked: str) -> None:
        main.check_device(Fake(devices=[device(name) for name in there]), asked)

    @pytest.mark.parametrize(
        ("there", "asked", "reason"),
        [
            ([device("cpu")], "tpu", "unknown_device"),
            ([device("cpu")], "cpu:0", "no_device"),
            ([device("cpu"), device("cuda", "no_driver")], "cuda", "no_driver"),
            ([device("cpu"), device("cuda", "no_driver")], "cuda:1", "no_driver"),
            ([device("cpu"), device("cuda")], "cuda:1", "no_device"),
            ([device("cpu"), device("cuda:0"), device("cuda:1")], "cuda:2", "no_device"),
            ([device("cpu"), device("mps", "build_without_device")], "mps", "build_without_device"),
        ],
    )
    def test_one_that_is_not_is_told_with_the_reason(
        self, there: list[dict[str, Any]], asked: str, reason: str
    ) -> None:
        with pytest.raises(errors.MissingDeviceError, match=f"^{reason}$"):
            main.check_device(Fake(devices=there), asked)


class TestCalibrate:
    @pytest.fixture
    def asked(self, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
        calls: list[tuple[Any, ...]] = []

        def ceilings(adapter: Any, *arguments: Any) -> dict[str, Any]:
            calls.append(arguments)
            return {"triad_bytes_per_s": 1e10}

        monkeypatch.setattr(calibrate, "ceilings", ceilings)
        return calls

    @pytest.mark.parametrize(
        ("more", "arguments"),
        [
            ({}, ("cpu", 1, ("fp32",))),
            ({"levers": {"threads": 4}}, ("cpu", 4, ("fp32",))),
            ({"levers": {"threads": None}, "dtypes": ["fp32", "bf16"]}, ("cpu", 1, ("fp32", "bf16"))),
        ],
        ids=str,
    )
    def test_it_measures_what_the_job_says(
        self, life: Life, asked: list[Any], more: dict[str, Any], arguments: tuple[Any, ...]
    ) -> None:
        messages = life(job(action="calibrate", **more))
        assert kinds(messages) == ["hello", "calibration"]
        assert messages[-1]["ceilings"] == {"triad_bytes_per_s": 1e10}
        assert messages[-1]["framework"]["name"] == "simulated"
        assert asked == [arguments]

    def test_a_missing_device_is_told(self, life: Life, asked: list[Any]) -> None:
        messages = life(job(action="calibrate", device="cuda"))
        assert messages[-1]["kind"] == "missing_device"
        assert asked == []


class TestFacts:
    def test_an_installed_framework(self, life: Life) -> None:
        messages = life(job(action="facts"))
        assert kinds(messages) == ["hello", "facts"]
        answer = messages[-1]["frameworks"]["simulated"]
        assert answer["installed"] is True
        assert answer["facts"]["name"] == "simulated"
        assert answer["devices"][0]["name"] == "cpu"
        assert "import_s" in answer

    def test_one_that_is_not_installed(self, life: Life, fake: Callable[..., Fake]) -> None:
        fake(load=ImportError("No module named 'fake'" + "!" * 999))
        answer = life(job(action="facts", framework="fake"))[-1]["frameworks"]["fake"]
        assert (answer["installed"], answer["reason"]) == (False, "not_installed")
        assert answer["text"].startswith("No module named 'fake'")
        assert len(answer["text"]) == 500


def test_a_stopwatch_keeps_what_it_timed_and_gives_back_the_result() -> None:
    watch = main.Stopwatch()
    assert watch.time("load_s", lambda: "loaded") == "loaded"
    assert list(watch.parts) == ["load_s"]


def test_a_part_that_fails_is_not_timed() -> None:
    watch = main.Stopwatch()
    with pytest.raises(ZeroDivisionError):
        watch.time("load_s", lambda: 1 / 0)
    assert watch.parts == {}


def test_the_simulated_framework_sees_every_lever_as_asked() -> None:
    assert main.observe(simulated.Adapter(), None, {"dtype": "bf16"}) == {"dtype": "bf16"}


def test_building_for_the_simulated_framework_needs_no_workload() -> None:
    adapter = simulated.Adapter()
    adapter.install_probe(Recorder(None), "cpu")
    built = main.build({"levers": {"batch_size": 3}}, adapter, Fault(None))
    assert (built.samples_per_step, built.model) == (3, None)
    assert SimpleNamespace(**built.data).source == "simulated"
