"""Worked bills, each checked by arithmetic that is written out here and shares nothing with the code."""

from __future__ import annotations

import math
import random

import pytest

from pacenote.advise import bill
from pacenote.advise.amount import Amount, between, exact
from pacenote.advise.bill import Spot, Usage
from pacenote.catalog.prices import Terms, terms
from pacenote.records import Reading

PER_SECOND = Terms(provider="x", granularity_s=1, minimum_s=60, source="test")
BY_HOUR = Terms(provider="x", granularity_s=3600, source="test")
BY_MINUTE = Terms(provider="x", granularity_s=60, source="test")


def listed(value: float) -> Reading:
    return Reading(value=value, method="listed")


def whole(price_per_h: float, used_s: float, rules: Terms = PER_SECOND) -> float:
    return bill.make(price_per_h, Usage(work_s=exact(used_s)), rules).total.value


# What providers print on their own pages.


def test_aws_savings_of_spot_training() -> None:
    """AWS SDK for Kotlin, SageMaker DescribeTrainingJobResponse.billableTimeInSeconds.

    "if BillableTimeInSeconds is 100 and TrainingTimeInSeconds is 500, the savings is 80%".
    """
    savings = 1 - whole(3.6, 100, BY_SECOND_NO_MINIMUM) / whole(3.6, 500, BY_SECOND_NO_MINIMUM)
    assert savings == pytest.approx(0.80)


BY_SECOND_NO_MINIMUM = Terms(provider="x", granularity_s=1)


def test_aws_distributed_training_is_billed_per_instance() -> None:
    """Same page: "BillableTimeInSeconds * InstanceCount"; four instances for 100 s are 400 instance seconds."""
    assert whole(4 * 3.6, 100, BY_SECOND_NO_MINIMUM) == pytest.approx(400 * 3.6 / 3600)


def test_aws_volume_of_31_gb_for_a_day_is_a_gb_month(monkeypatch: pytest.MonkeyPatch) -> None:
    """AWS, Understand charges for Amazon EBS volumes: in a month of 31 days, 31 GB for 24 h are one GB-month.

    As quoted at yohei-a.hatenablog.jp/entry/20201217/1608161045.
    """
    monkeypatch.setattr(bill, "HOURS_PER_MONTH", 31 * 24)
    assert disk(31, 24, 0.08) == pytest.approx(0.08)


def test_aws_volume_of_one_gb_for_744_h_is_a_gb_month(monkeypatch: pytest.MonkeyPatch) -> None:
    """Same page: 1 GB for 744 h, the hours of a month of 31 days."""
    monkeypatch.setattr(bill, "HOURS_PER_MONTH", 31 * 24)
    assert disk(1, 744, 0.08) == pytest.approx(0.08)


def test_aws_instance_hours_of_the_monthly_calculator() -> None:
    """s3.amazonaws.com/calculator/calc5.html: 3 instances day and night, 2 for 5 h a day, 31 days: 2,542 hours."""
    hours = whole(3, 24 * 31 * 3600, BY_HOUR) + whole(2, 5 * 31 * 3600, BY_HOUR)
    assert hours == pytest.approx(2542)


def test_aws_charges_at_least_a_minute() -> None:
    """aws.amazon.com/about-aws/whats-new/2017/10/announcing-amazon-ec2-per-second-billing: at least 60 s."""
    assert bill.billed(7, terms("aws")) == 60
    assert bill.billed(61.2, terms("aws")) == 62


def test_google_calculator_instances() -> None:
    """Cloud Pricing Calculator of 2023-05-18: n1-standard-8, 4,380 h in Iowa, USD 1,664.39 (USD 0.379998 an hour)."""
    assert whole(0.379998, 4380 * 3600, terms("gcp")) == pytest.approx(1664.39, abs=0.005)


def test_google_calculator_small_instances() -> None:
    """Same estimate: n1-standard-1, 1,460 h, USD 69.35 (an eighth of the price of n1-standard-8)."""
    assert whole(0.379998 / 8, 1460 * 3600, terms("gcp")) == pytest.approx(69.35, abs=0.005)


def test_google_calculator_disks() -> None:
    """Same estimate: 280 GiB of zonal SSD for a month, USD 47.60; 30 GiB of balanced disk, USD 3.00."""
    assert disk(280, 730, 0.17) == pytest.approx(47.60)
    assert disk(30, 730, 0.10) == pytest.approx(3.00)


def test_google_calculator_whole_estimate() -> None:
    """Same estimate, all of it: USD 1,808.26, of which USD 2.92 are an address at 0.004 an hour."""
    lines = (
        whole(0.379998, 4380 * 3600, terms("gcp")),
        whole(0.379998 / 8, 1460 * 3600, terms("gcp")),
        disk(280, 730, 0.17),
        disk(6 * 30, 730, 0.10),
        disk(2 * 30, 730, 0.10),
        whole(0.004, 730 * 3600, terms("gcp")),
    )
    assert sum(lines) == pytest.approx(1808.26, abs=0.01)


def test_google_storage_kept_for_days(monkeypatch: pytest.MonkeyPatch) -> None:
    """Google on gs-discussion: 2 GB for 4 and for 2 days of April at USD 0.085, 2 x 2 GB out at 0.12: USD 0.514."""
    monkeypatch.setattr(bill, "HOURS_PER_MONTH", 30 * 24)
    kept = disk(2, 4 * 24, 0.085) + disk(2, 2 * 24, 0.085)
    assert kept == pytest.approx(0.034)
    assert kept + egress(2, 0.12) + egress(2, 0.12) == pytest.approx(0.514)


def test_huawei_counts_seconds_across_the_hour() -> None:
    """support.huaweicloud.com/price-apig/apig_08_0005.html: 8:45:30 to 9:30:00 is 870 s and 1,800 s."""
    assert bill.billed(44 * 60 + 30, BY_SECOND_NO_MINIMUM) == 870 + 1800


def test_huawei_ten_minutes() -> None:
    """support.huaweicloud.com/price-appstage/appstage_02_0014.html: 8:45:30 to 8:55:30 is 600 s."""
    assert bill.billed(10 * 60, BY_SECOND_NO_MINIMUM) == 600


def test_alibaba_counts_started_hours_of_the_clock() -> None:
    """help.aliyun.com, Classic Load Balancer, pay-as-you-go: 09:30 to 12:30 is billed from 09:00 to 13:00, 4 h."""
    clock = Terms(provider="x", granularity_s=3600, clock_aligned=True)
    assert bill.billed(3 * 3600, clock, start_s=9.5 * 3600) == 4 * 3600


def test_baidu_counts_started_minutes() -> None:
    """cloud.baidu.com/doc/BLB: CNY 0.00028 a minute, CNY 0.0168 an hour; less than a minute counts as one."""
    assert whole(0.0168, 3600, BY_MINUTE) == pytest.approx(0.00028 * 60)
    assert whole(0.0168, 61, BY_MINUTE) == pytest.approx(0.00028 * 2)


def test_databend_charges_seconds() -> None:
    """Databend Cloud, pricing: CNY 0.00125 a second, 5 min 20 s are CNY 0.40; a day is CNY 108."""
    assert whole(0.00125 * 3600, 5 * 60 + 20, BY_SECOND_NO_MINIMUM) == pytest.approx(0.40)
    assert whole(0.00125 * 3600, 86400, BY_SECOND_NO_MINIMUM) == pytest.approx(108)


def test_lambda_counts_minutes() -> None:
    """lambda.ai/instances: pay by the minute, no egress fees; 90 s are two minutes, 500 GB out are nothing."""
    assert bill.billed(90, terms("lambda")) == 120
    usage = Usage(work_s=exact(90), egress_gb=500)
    made = bill.make(31.92, usage, terms("lambda"))
    assert made.total.value == pytest.approx(31.92 * 2 / 60)
    assert "egress_price" not in made.missing


# The articles' cost table, corrected.


def test_the_articles_v100_job() -> None:
    """Five epochs of 23.4 s on p3.2xlarge at USD 3.06 are 117 s: 117 x 3.06 / 3600 = 0.09945, not the printed 0.05."""
    assert whole(3.06, 117, terms("aws")) == pytest.approx(0.09945)


def test_the_articles_chinese_job() -> None:
    """117 s at CNY 4.5 an hour are CNY 0.14625, not the printed 0.08."""
    assert whole(4.5, 117) == pytest.approx(0.14625)


def test_the_same_job_on_the_instance_that_has_a_t4() -> None:
    """The card that the article names is in g4dn.xlarge at USD 0.526: 117 x 0.526 / 3600."""
    assert whole(0.526, 117, terms("aws")) == pytest.approx(0.0170950)


def test_the_articles_job_with_what_it_leaves_out() -> None:
    """3 min of boot and 5 of install come to 480 s: (117 + 480) x 3.06 / 3600 = 0.50745, five times the training."""
    usage = Usage(work_s=exact(117), boot_s=exact(180), install_s=exact(300))
    assert bill.make(3.06, usage, terms("aws")).total.value == pytest.approx(0.50745)


# Lines one by one.


def test_a_short_job_pays_the_minimum() -> None:
    made = bill.make(3.6, Usage(work_s=exact(10)), PER_SECOND)
    assert made.amount("compute").value == pytest.approx(0.010)
    assert made.amount("rounding").value == pytest.approx(0.050)
    assert made.total.value == pytest.approx(0.060)


def test_a_started_hour_is_charged_whole() -> None:
    assert whole(2.0, 3601, BY_HOUR) == pytest.approx(4.0)
    assert whole(2.0, 3600, BY_HOUR) == pytest.approx(2.0)


def test_setup_idle_and_rounding_are_lines_of_their_own() -> None:
    usage = Usage(work_s=exact(1000), boot_s=exact(60), install_s=exact(125), idle_s=exact(300))
    made = bill.make(3.6, usage, BY_MINUTE)
    assert made.amount("compute").value == pytest.approx(1.000)
    assert made.amount("setup").value == pytest.approx(0.185)
    assert made.amount("idle").value == pytest.approx(0.300)
    assert made.amount("rounding").value == pytest.approx(0.015)  # 1485 s are 25 minutes: 1500
    assert made.total.value == pytest.approx(1.500)
    assert made.wall_s.value == pytest.approx(1185)  # idle comes after the job's end


def disk(gb: float, hours: float, price: float) -> float:
    rules = Terms(provider="x", granularity_s=1, disk_per_gb_month=listed(price))
    return bill.make(0.0, Usage(work_s=exact(hours * 3600), disk_gb=gb), rules).amount("disk").value


def egress(gb: float, price: float, free: float = 0.0) -> float:
    rules = Terms(provider="x", granularity_s=1, egress_per_gb=listed(price), egress_free_gb=free)
    return bill.make(0.0, Usage(work_s=exact(1), egress_gb=gb), rules).amount("egress").value


def test_disk_is_charged_while_the_machine_runs_and_is_kept() -> None:
    rules = Terms(provider="x", granularity_s=1, disk_per_gb_month=listed(0.10))
    made = bill.make(1.0, Usage(work_s=exact(10 * 3600), disk_gb=200, kept_s=63 * 3600), rules)
    assert made.amount("disk").value == pytest.approx(0.10 * 200 * 73 / 730)


@pytest.mark.parametrize(("gb", "free", "money"), [(50, 100, 0), (100, 100, 0), (150, 100, 4.5), (150, 0, 13.5)])
def test_egress_after_what_is_free(gb: float, free: float, money: float) -> None:
    assert egress(gb, 0.09, free) == pytest.approx(money)


def test_what_has_no_price_is_named_and_left_out() -> None:
    usage = Usage(work_s=exact(3600), disk_gb=100, egress_gb=100)
    made = bill.make(1.0, usage, Terms(provider="nobody"))
    assert made.total.value == pytest.approx(1.0)
    assert made.missing == ["billing_granularity", "disk_price", "egress_price"]


def test_unknown_rounding_widens_the_bill_to_a_whole_hour() -> None:
    made = bill.make(6.0, Usage(work_s=exact(1800)), Terms(provider="nobody"))
    assert made.total.low == pytest.approx(3.0)
    assert made.total.value == pytest.approx(3.0)
    assert made.total.high == pytest.approx(6.0)


def test_the_interval_of_time_is_the_interval_of_money() -> None:
    made = bill.make(3.6, Usage(work_s=between(900, 1000, 1300)), BY_SECOND_NO_MINIMUM)
    assert (made.total.low, made.total.value, made.total.high) == pytest.approx((0.9, 1.0, 1.3))


# Spare capacity.


def test_without_interruptions_spot_takes_the_time_itself() -> None:
    assert bill.expected_s(3600, 0.0, Spot(interruptions_per_h=exact(0), checkpoint_s=600)) == 3600


def test_rare_interruptions_cost_half_a_segment_and_a_restart_each() -> None:
    """To first order each of rate x time interruptions loses half a segment and a restart."""
    spot = Spot(interruptions_per_h=exact(0.001), checkpoint_s=600, restart_s=300)
    extra = bill.expected_s(36_000, 0.001, spot) - 36_000
    assert extra == pytest.approx(0.001 * 10 * (600 / 2 + 300), rel=2e-3)


def test_a_job_without_checkpoints_starts_again() -> None:
    """With mean m the time to get T seconds uninterrupted is m (exp(T/m) - 1): one interruption an hour, two hours."""
    spot = Spot(interruptions_per_h=exact(1.0))
    assert bill.expected_s(7200, 1.0, spot) == pytest.approx(3600 * (math.e**2 - 1))


def test_the_formula_agrees_with_a_lottery() -> None:
    """Ten thousand jobs with drawn interruptions, their lost work counted one by one."""
    draw = random.Random(7)
    spot = Spot(interruptions_per_h=exact(0.5), checkpoint_s=1800, write_s=30, restart_s=240)
    times = [_one_job(draw, 4 * 1800, 3600 / 0.5, spot) for _ in range(10_000)]
    assert bill.expected_s(4 * 1800, 0.5, spot) == pytest.approx(sum(times) / len(times), rel=0.01)


def _one_job(draw: random.Random, work_s: float, mean_s: float, spot: Spot) -> float:
    """Daly's model: a segment and its writing, or the restart before it, is lost when an interruption comes first."""
    assert spot.checkpoint_s is not None
    spent, done, restart = 0.0, 0.0, 0.0
    while done < work_s:
        until = draw.expovariate(1 / mean_s)
        attempt = restart + spot.checkpoint_s + spot.write_s
        if until >= attempt:
            spent, done, restart = spent + attempt, done + spot.checkpoint_s, 0.0
        else:
            spent, restart = spent + until, spot.restart_s
    return spent


def test_spot_is_a_line_of_lost_work() -> None:
    spot = Spot(interruptions_per_h=exact(0.1), checkpoint_s=3600, restart_s=300)
    made = bill.make(1.0, Usage(work_s=exact(36_000)), BY_SECOND_NO_MINIMUM, spot=spot)
    mean = 36_000
    expected = mean * math.exp(300 / mean) * math.expm1(3600 / mean) * 10
    assert made.amount("compute").value == pytest.approx(10.0)
    assert made.amount("spot_loss").value == pytest.approx((expected - 36_000) / 3600)
    assert made.interruptions.value == pytest.approx(0.1 * expected / 3600)
    assert made.wall_s.value == pytest.approx(expected)


def test_a_hopeless_spot_job_is_infinite_and_does_not_crash() -> None:
    made = bill.make(1.0, Usage(work_s=exact(3.6e6)), PER_SECOND, spot=Spot(interruptions_per_h=exact(10)))
    assert math.isinf(made.total.value)


# Sums over jobs.


def test_money_for_one_of_many_experiments() -> None:
    made = bill.make(2.0, Usage(work_s=exact(5 * 3600), boot_s=exact(1800)), BY_HOUR)
    assert bill.per_experiment(made, 4).value == pytest.approx(2.0 * 6 / 4)


def test_experiments_of_a_day() -> None:
    assert bill.experiments_per_day(between(1800, 3600, 7200)) == Amount(low=12, value=24, high=48)


def test_a_bill_in_another_currency() -> None:
    made = bill.converted(bill.make(2.0, Usage(work_s=exact(3600)), BY_SECOND_NO_MINIMUM), 7.0, "CNY")
    assert made.total.value == pytest.approx(14.0)
    assert made.amount("compute").value == pytest.approx(14.0)
    assert made.currency == "CNY"


def test_the_lines_add_up_to_the_total_whatever_comes() -> None:
    draw = random.Random(3)
    for _ in range(200):
        low = draw.uniform(1, 5000)
        work = between(low, low * 1.2, low * draw.uniform(1.2, 3))
        rules = Terms(
            provider="x",
            granularity_s=draw.choice([1, 60, 3600]),
            minimum_s=draw.choice([0, 60, 600]),
            disk_per_gb_month=listed(0.1),
            egress_per_gb=listed(0.05),
        )
        usage = Usage(work_s=work, boot_s=exact(draw.uniform(0, 300)), idle_s=exact(7), disk_gb=50, egress_gb=20)
        made = bill.make(draw.uniform(0.1, 30), usage, rules)
        assert made.total.ordered
        assert sum(line.amount.value for line in made.lines) == pytest.approx(made.total.value)
        assert made.amount("compute").value + made.amount("setup").value <= made.total.value + 1e-9


@pytest.mark.parametrize("code", sorted(bill.FORMULAS))
def test_every_formula_gives_its_line_again(code: str) -> None:
    """The printed formula, fed with the printed factors, is the line's amount."""
    usage = Usage(
        work_s=exact(5000),
        boot_s=exact(70),
        install_s=exact(33),
        idle_s=exact(11),
        disk_gb=80,
        kept_s=50,
        egress_gb=140,
    )
    rules = Terms(
        provider="x",
        granularity_s=60,
        disk_per_gb_month=listed(0.1),
        egress_per_gb=listed(0.09),
        egress_free_gb=100,
    )
    made = bill.make(2.5, usage, rules, spot=Spot(interruptions_per_h=exact(0.05), checkpoint_s=900, restart_s=60))
    line = next(line for line in made.lines if line.code == code)
    again = eval(bill.FORMULAS[code], {"max": max, "__builtins__": {}}, line.factors)
    assert again == pytest.approx(line.amount.value)
