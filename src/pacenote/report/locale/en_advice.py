"""English words of advice: verdicts, reasons, problems, cautions, lines of a bill, and what turns the answer."""

from __future__ import annotations

from typing import Final

_VERDICTS: Final[dict[str, str]] = {
    "advice.rent": "Rent {name}: {money:money} {currency} for the whole job ({low:money} to {high:money}), done in "
    "{wall_s} ({low_s} to {high_s}).",
    "advice.buy": "Buy {name}: {money:money} {currency} a job ({low:money} to {high:money}), done in {wall_s} ({low_s} "
    "to {high_s}).",
    "advice.use_free": "Use {name}: it costs {money:money} {currency}, and the job is done in {wall_s} ({low_s} to "
    "{high_s}).",
    "advice.stay_loader": "Stay on this CPU: {name} could train in {device_s}, but it would wait for the loader "
    "{share:share} of the time and need {other_s}; here it takes {wall_s}.",
    "advice.stay_small": "Stay on this CPU: the model is too small for an accelerator; {name} would need {device_s}, "
    "here it takes {wall_s}.",
    "advice.stay_cheaper": "Stay on this machine: the job takes {wall_s} here, and nothing else is worth its price.",
    "advice.stay_only": "Stay on this machine: the job takes {wall_s} here, and there is nothing to compare it with.",
    "advice.fix_first": "Fix the cause first ({cause:finding}): it makes this machine {gain:ratio} as "
    "fast. The job then "
    "takes {wall_s} here, which is worth more than {name} with {other_s}.",
    "advice.measure": "Not decidable yet: {first} looks best, but {second} may be much better. Measure "
    "{name} for a few "
    "minutes.",
    "advice.measure_first": "Not decidable yet: no time is known for {names}. Measure one of them.",
    "advice.deadline_impossible": "The deadline cannot be met: {name} comes nearest with {wall_s}; {deadline_s} is "
    "allowed.",
    "advice.money_impossible": "The money is not enough: {name} comes nearest with {money:money} {currency}; "
    "{limit:money} {currency} is allowed.",
    "advice.nothing_fits": "The model fits nowhere: {name} comes nearest; {need_bytes} is needed on a card of "
    "{card_bytes}.",
    "advice.nothing_left": "Nothing can be recommended: something stands against each of {names}.",
    "advice.nothing_asked": "Nothing can be recommended: there is nothing to choose from.",
}

_EXACT: Final[dict[str, str]] = {
    "advice.rent.exact": "Rent {name}: {money:money} {currency} for the whole job, done in {wall_s}.",
    "advice.buy.exact": "Buy {name}: {money:money} {currency} a job, done in {wall_s}.",
    "advice.use_free.exact": "Use {name}: it costs {money:money} {currency}, and the job is done in {wall_s}.",
}

_REASONS: Final[dict[str, str]] = {
    "advice.best_cheapest": "It is the cheapest that keeps the limits; {second} comes next: {second_money:money} "
    "{currency} instead of {money:money}, {second_s} instead of {wall_s}.",
    "advice.best_fastest": "It is the fastest that keeps the limits; {second} comes next: {second_s} instead of "
    "{wall_s}, {second_money:money} {currency} instead of {money:money}.",
    "advice.best_balanced": "Money and waiting together are least, with an hour worth {hour_worth:money} {currency}; "
    "{second} comes next: {second_money:money} {currency} instead of {money:money}, {second_s} instead of {wall_s}.",
    "advice.only_one_left": "It is the only one that keeps the limits.",
    "advice.left_out": "Left out, because figures are missing: {names}.",
    "advice.spot_left": "Spare capacity was left: {names} would be interrupted too often for this job.",
    "advice.buying_pays_from": "Buying {name} pays from {jobs:plain} such jobs a month on; it can do {capacity:plain}.",
    "advice.buying_never_pays": "Buying {name} never pays against this price; it can do {capacity:plain} such jobs a "
    "month.",
    "advice.no_time": "no time is known",
    "advice.figure_missing": "missing figures: {figures:figure}",
    "advice.region": "region {region} is not allowed",
    "advice.does_not_fit": "needs {need_bytes}, a card has {card_bytes}",
    "advice.too_late": "takes {wall_s}; {deadline_s} is allowed",
    "advice.too_dear": "costs {money:money} {currency}; {limit:money} {currency} is allowed",
    "advice.too_slow_to_answer": "answers in {latency_s}; {limit_s} is allowed",
    "advice.session_too_short": "takes {wall_s}, a session ends after {limit_s}; with checkpoints it could go on",
    "advice.spot_hopeless": "interrupted {rate:plain} times an hour, the job would never end",
    "advice.deadline_uncertain": "The deadline of {deadline_s} lies within its interval: it may take {high_s}.",
    "advice.money_uncertain": "The limit of {limit:money} {currency} lies within its interval: it may "
    "cost {high:money}.",
    "advice.memory_uncertain": "It may not fit: up to {high_bytes} are needed, a card has {card_bytes}.",
    "advice.latency_uncertain": "The limit of {limit_s} lies within its interval: an answer may take {high_s}.",
    "advice.beyond_team": "It asks more of a team than {team:team}.",
    "advice.spot_too_risky": "It would be interrupted {interruptions:plain} times and has no checkpoints.",
    "advice.price_stale": "Its price is {days:count} days old: look it up before you decide.",
    "advice.price_undated": "The source of its price has no date: look it up before you decide.",
    "advice.egress_dominates": "Getting the data out is {share:share} of the bill: leave it there, or send less.",
    "advice.setup_dominates": "Booting and installing are {share:share} of the bill: use a ready image, or run several "
    "jobs on one machine.",
    "advice.idle_dominates": "Idle time is {share:share} of the bill: switch the machine off when the job ends.",
    "advice.disk_dominates": "Keeping the disk is {share:share} of the bill: delete it when the job ends.",
    "advice.spot_loss_dominates": "Work done again after interruptions is {share:share} of the bill: write checkpoints "
    "more often.",
    "advice.rounding_dominates": "Rounding up is {share:share} of the bill: the job is short for how this provider "
    "counts.",
    "advice.spot_interruptions": "Expected interruptions: {interruptions:plain}; the bill holds the work done again.",
    "advice.bill_incomplete": "The bill lacks what no source states: {figures:figure}.",
    "advice.waits_for_loader": "Its accelerator waits for the loader {share:share} of the time.",
    "advice.fits_sharded": "It fits on {cards:count} cards with {strategy:strategy}.",
    "advice.accumulates": "Its batch is made of {parts:count} parts of {batch:count} samples a card.",
    "advice.cards_needed": "{cards:count} such cards would do, with {strategy:strategy}.",
    "advice.several_sessions": "The job needs several sessions of {limit_s} and goes on from checkpoints.",
    "advice.converted": "Its price is in {currency}, converted at the rate of {date}.",
    "advice.power_left_out": "Its electricity is not counted.",
    "advice.no_interval": "Its time has no interval, for one process gives none: measure it again for one.",
    "advice.memory_unknown": "Whether the job fits its memory is not known.",
    "advice.loader_unknown": "What its CPUs can feed is not known; the time assumes that the loader keeps up.",
}

_TURNS: Final[dict[str, str]] = {
    "turn.price": "{subject} costs {at:money} {currency} an hour (now {now:money})",
    "turn.time": "{subject} takes {at:s} (now {now:s})",
    "turn.loader": "the loader of {subject} needs {at:s} (now {now:s})",
    "turn.interruptions": "{subject} is interrupted {at:plain} times an hour (now {now:plain})",
    "turn.hour_worth": "an hour of waiting is worth {at:money} {currency} (now {now:money})",
    "turn.deadline": "the deadline is {at:s} (now {now:s})",
    "turn.money": "the money is {at:money} {currency} (now {now:money})",
    "turn.jobs": "there are {at:plain} jobs a month (now {now:plain})",
    "turn.gain": "fixing the cause gains {at:ratio} (now {now:ratio})",
    "turn.then": "{what}: {then}",
    "turn.other": "then take {choice}",
    "turn.none": "then no recommendation",
}

_TERMS: Final[dict[str, str]] = {
    "advise.here": "this machine",
    "advise.list": "Short list",
    "advise.bill": "The bill of {name}",
    "advise.turns": "What would change the answer",
    "advise.name": "Where",
    "advise.time": "Time until done",
    "advise.money": "Money ({currency})",
    "advise.energy": "Energy",
    "advise.front": "Unbeaten",
    "advise.note": "To know",
    "advise.per_day": "Jobs a day, one after the other: {count}",
    "advise.co2": "CO2: {kg} kg (grid of {country}, average of {year})",
    "line.compute": "Training",
    "line.setup": "Boot and install",
    "line.idle": "Idle",
    "line.rounding": "Rounding up",
    "line.spot_loss": "Work lost to interruptions",
    "line.disk": "Disk",
    "line.egress": "Data out",
    "line.total": "Total",
    "figure.price": "price",
    "figure.spot_price": "spot price",
    "figure.interruptions": "rate of interruptions",
    "figure.purchase_price": "purchase price",
    "figure.jobs_per_month": "jobs per month",
    "figure.latency": "time of an answer",
    "figure.billing_granularity": "how time is rounded",
    "figure.disk_price": "price of disk",
    "figure.egress_price": "price of data out",
    "figure.accelerator": "accelerator",
    "strategy.ddp": "plain data parallelism",
    "strategy.zero1": "ZeRO stage 1",
    "strategy.zero2": "ZeRO stage 2",
    "strategy.zero3": "ZeRO stage 3 or FSDP",
    "team.novice": "novices",
    "team.some": "some experience",
    "team.ops": "operators",
}

ADVICE: Final[dict[str, str]] = {**_VERDICTS, **_EXACT, **_REASONS, **_TURNS, **_TERMS}
