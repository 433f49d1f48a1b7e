"""Ctrl-C comes after the block, never inside it."""

from __future__ import annotations

import signal
import threading

import pytest

from pacenote.runner.shield import shielded


def test_an_interrupt_waits_for_the_end_of_the_block() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - the block is what is tested
        with shielded():
            signal.raise_signal(signal.SIGINT)
            done.append("inside")
        done.append("after")
    assert done == ["inside"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_error_of_the_block_comes_first() -> None:
    with pytest.raises(ValueError, match="mine"), shielded():  # noqa: PT012 - the block is what is tested
        signal.raise_signal(signal.SIGINT)
        raise ValueError("mine")


def test_other_threads_pass() -> None:
    seen: list[bool] = []

    def work() -> None:
        with shielded():
            seen.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [True]
