"""The user's own prices, and fetching new ones while providers fail."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pacenote.catalog import prices
from pacenote.catalog.prices import table
from pacenote.errors import DataError, MissingPartError, PacenoteError

TODAY = date(2026, 12, 7)
OWN = "provider,instance,region,on_demand_per_h,currency,date\n"


def item(name: str, price: float, location: str = "here", *, spot: bool = False, gpu: str | None = "A100") -> Any:
    """What gpuhunt gives for one offer."""
    return SimpleNamespace(
        instance_name=name,
        price=price,
        location=location,
        spot=spot,
        gpu_name=gpu,
        gpu_count=1 if gpu else 0,
        gpu_memory=40.0 if gpu else None,
        cpu=8,
        memory=64.0,
    )


def answers(name: str) -> Iterable[Any]:
    """A gpuhunt whose AWS works, whose Azure breaks and whose RunPod has nothing."""
    if name == "azure":
        raise ConnectionError("no\nnetwork")
    if name == "runpod":
        return []
    return [
        item("big", 4.0, "far"),
        item("big", 3.0, "near"),
        item("big", 1.5, "far", spot=True),
        item("big", 1.0, "near", spot=True),
        item("cpu", 0.2, gpu=None),
    ]


def test_without_a_folder_the_shipped_table_is_used(tmp_path: Path) -> None:
    loaded = table.load(tmp_path / "none")
    assert loaded.offers == prices.shipped()
    assert loaded.warnings == []


def test_own_prices_count_more_than_fetched_ones(tmp_path: Path) -> None:
    (tmp_path / "aaa.csv").write_text(OWN + "aws,g5.xlarge,us-east-1,0.5,USD,2026-01-01\n", encoding="utf-8")
    (tmp_path / "fetched-aws.csv").write_text(OWN + "aws,g5.xlarge,us-east-1,0.9,USD,2026-12-01\n", encoding="utf-8")
    found = prices.find(table.load(tmp_path).offers, "aws/g5.xlarge")
    assert found.on_demand_per_h.value == 0.5


def test_a_broken_file_of_the_user_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("nonsense\n", encoding="utf-8")
    loaded = table.load(tmp_path)
    assert loaded.offers == prices.shipped()
    assert len(loaded.warnings) == 1
    assert "bad.csv" in loaded.warnings[0]


def test_a_file_is_added_only_when_it_is_whole(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text(OWN + "me,desk,home,0.1,USD,2026-12-01\n", encoding="utf-8")
    bad.write_text(OWN + "me,desk,home,cheap,USD,2026-12-01\n", encoding="utf-8")
    place = tmp_path / "prices"
    path, count = table.add(good, place)
    assert (path, count) == (place / "good.csv", 1)
    assert prices.find(table.load(place).offers, "me/desk").on_demand_per_h.value == 0.1
    with pytest.raises(DataError):
        table.add(bad, place)
    assert [path.name for path in place.iterdir()] == ["good.csv"]


def test_an_added_file_cannot_pose_as_fetched(tmp_path: Path) -> None:
    own = tmp_path / "fetched-aws.csv"
    own.write_text(OWN + "me,desk,home,0.1,USD,2026-12-01\n", encoding="utf-8")
    assert table.add(own, tmp_path / "prices")[0].name == "aws.csv"


def test_an_update_goes_on_when_a_provider_fails(tmp_path: Path) -> None:
    fetched = table.update(["azure", "aws", "runpod"], TODAY, query=answers, where=tmp_path)
    assert fetched.counts == {"aws": 2}
    assert fetched.failures == {"azure": "ConnectionError: no network", "runpod": "DataError: no offers came"}


def test_an_update_keeps_the_cheapest_region_and_its_own_spot_price(tmp_path: Path) -> None:
    table.update(["aws"], TODAY, query=answers, where=tmp_path)
    big = prices.find(table.load(tmp_path).offers, "aws/big")
    assert (big.region, big.on_demand_per_h.value, big.spot_per_h.value) == ("near", 3.0, 1.0)
    assert (big.accelerator, big.accelerator_count, big.vcpu) == ("A100 40GB", 1, 8)
    assert big.age_days(TODAY) == 0
    cpu = prices.find(table.load(tmp_path).offers, "aws/cpu")
    assert (cpu.accelerator, cpu.accelerator_count) == ("", 0)
    assert cpu.spot_per_h.reason == "not_in_source"


def test_a_failed_update_leaves_what_was_fetched_before(tmp_path: Path) -> None:
    table.update(["aws"], TODAY, query=answers, where=tmp_path)

    def broken(name: str) -> Iterable[Any]:
        raise OSError(name)

    assert table.update(["aws"], TODAY, query=broken, where=tmp_path).counts == {}
    assert prices.find(table.load(tmp_path).offers, "aws/big")


def test_without_gpuhunt_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gpuhunt", None)
    with pytest.raises(MissingPartError, match="pip install"):
        table.update(["aws"], TODAY, where=tmp_path)


def test_gpuhunt_is_asked_by_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    monkeypatch.setitem(sys.modules, "gpuhunt", fake_gpuhunt(asked))
    table.update(["lambda", "gcp"], TODAY, where=tmp_path)
    assert asked == ["load", "lambdalabs", "gcp"]  # the tables of all are loaded once


def test_what_gpuhunt_could_not_load_is_not_loaded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setitem(sys.modules, "gpuhunt", fake_gpuhunt(asked, broken=True))
    fetched = table.update(["aws", "gcp"], TODAY, where=tmp_path)
    assert asked == ["load"]
    assert set(fetched.failures) == {"aws", "gcp"}


def fake_gpuhunt(asked: list[str], *, broken: bool = False) -> Any:
    class Catalog:
        def __init__(self, *, auto_reload: bool) -> None:
            assert not auto_reload

        def load(self) -> None:
            asked.append("load")
            if broken:
                raise OSError("no network")

        def query(self, *, provider: str) -> list[Any]:
            asked.append(provider)
            return [item("one", 1.0)]

    return SimpleNamespace(Catalog=Catalog)


def test_gpuhunt_itself_with_one_provider_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library, its tables in a folder: RunPod's is there, AWS's is not."""
    pytest.importorskip("gpuhunt")
    place = tmp_path / "tables" / "runpod"
    (place / "1").mkdir(parents=True)
    (place / "version").write_text("1", encoding="utf-8")
    columns = "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,gpu_vendor,flags"
    with zipfile.ZipFile(place / "1" / "catalog.zip", "w") as file:
        file.writestr("runpod.csv", f"{columns}\npod,x,1.5,8,64,1,A100,80,False,,nvidia,\n")
    monkeypatch.setenv("GPUHUNT_CATALOG_URL", (tmp_path / "tables").as_uri())
    fetched = table.update(["aws", "runpod"], TODAY, where=tmp_path / "prices")
    assert fetched.counts == {"runpod": 1}
    assert set(fetched.failures) == {"aws"}
    pod = prices.find(table.load(tmp_path / "prices").offers, "runpod/pod")
    assert (pod.accelerator, pod.on_demand_per_h.value) == ("A100 80GB", 1.5)


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text(OWN + "me,desk,home,0.1,USD,2026-12-01\n", encoding="utf-8")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(PacenoteError, match="PACENOTE_PRICES"):
        table.add(own, tmp_path / "file")


def test_the_folder_can_be_named() -> None:
    assert table.folder({"PACENOTE_PRICES": "/somewhere"}) == Path("/somewhere")
    assert table.folder({}).name == "prices"
