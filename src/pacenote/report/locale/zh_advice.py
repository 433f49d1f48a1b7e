"""Chinese words of advice: verdicts, reasons, problems, cautions, lines of a bill, and what turns the answer."""

from __future__ import annotations

from typing import Final

_VERDICTS: Final[dict[str, str]] = {
    "advice.rent": "租用 {name}：整个任务 {money:money} {currency}（{low:money} – {high:money}），用时 {wall_s}（"
    "{low_s} – {high_s}）。",
    "advice.buy": "购买 {name}：每个任务 {money:money} {currency}（{low:money} – {high:money}），用时 {wall_s}（"
    "{low_s} – {high_s}）。",
    "advice.use_free": "使用 {name}：费用 {money:money} {currency}，用时 {wall_s}（{low_s} – {high_s}）。",
    "advice.stay_loader": "留在这个 CPU 上：{name} 的训练本身只需 {device_s}，但有 {share:share} 的"
    "时间要等数据加载，实际需要 {other_s}；在此处需要 {wall_s}。",
    "advice.stay_small": "留在这个 CPU 上：模型太小，用不上加速器；{name} 需要 {device_s}，在此处需要 {wall_s}。",
    "advice.stay_cheaper": "留在这台机器上：任务在此处需要 {wall_s}，其他选择都不值其价格。",
    "advice.stay_only": "留在这台机器上：任务在此处需要 {wall_s}，没有可比较的选择。",
    "advice.fix_first": "先解决问题（{cause:finding}）：解决后这台机器的速度是现在的 {gain:ratio}。任务在此处只需 "
    "{wall_s}，比 {name}（用时 {other_s}）更划算。",
    "advice.measure": "尚无法决定：{first} 看来最好，但 {second} 可能好得多。请先测量 {name} 几分钟。",
    "advice.measure_first": "尚无法决定：不知道 {names} 的用时。请先测量其中之一。",
    "advice.deadline_impossible": "无法按期完成：最接近的是 {name}，需要 {wall_s}；期限为 {deadline_s}。",
    "advice.money_impossible": "预算不够：最接近的是 {name}，需要 {money:money} {currency}；上限为 {limit:money} "
    "{currency}。",
    "advice.nothing_fits": "模型放不进任何一种显存：最接近的是 {name}；需要 {need_bytes}，每张卡只有 {card_bytes}。",
    "advice.nothing_left": "没有可推荐的选择：{names} 各有障碍。",
    "advice.nothing_asked": "没有可推荐的选择：没有任何候选。",
}

_EXACT: Final[dict[str, str]] = {
    "advice.rent.exact": "租用 {name}：整个任务 {money:money} {currency}，用时 {wall_s}。",
    "advice.buy.exact": "购买 {name}：每个任务 {money:money} {currency}，用时 {wall_s}。",
    "advice.use_free.exact": "使用 {name}：费用 {money:money} {currency}，用时 {wall_s}。",
}

_REASONS: Final[dict[str, str]] = {
    "advice.best_cheapest": "它是满足限制的最便宜的选择；其次是 {second}：费用 {second_money:money} {currency}（此选择 "
    "{money:money}），用时 {second_s}（此选择 {wall_s}）。",
    "advice.best_fastest": "它是满足限制的最快的选择；其次是 {second}：用时 {second_s}（此选择 {wall_s}），费用 "
    "{second_money:money} {currency}（此选择 {money:money}）。",
    "advice.best_balanced": "费用与等待合计最少，一小时按 {hour_worth:money} {currency} 计；其次是 {second}：费用 "
    "{second_money:money} {currency}（此选择 {money:money}），用时 {second_s}（此选择 {wall_s}）。",
    "advice.only_one_left": "只有它满足限制。",
    "advice.left_out": "因缺少数据而未比较：{names}。",
    "advice.spot_left": "未采用可被收回的空闲算力：{names} 对这个任务而言中断太频繁。",
    "advice.buying_pays_from": "每月有 {jobs:plain} 个这样的任务起，购买 {name} 才划算；它每月可完成 {capacity:plain}"
    " 个。",
    "advice.buying_never_pays": "按此价格，购买 {name} 永远不划算；它每月可完成 {capacity:plain} 个这样的任务。",
    "advice.no_time": "用时未知",
    "advice.figure_missing": "缺少数据：{figures:figure}",
    "advice.region": "不允许使用区域 {region}",
    "advice.does_not_fit": "需要 {need_bytes}，每张卡有 {card_bytes}",
    "advice.too_late": "需要 {wall_s}；期限为 {deadline_s}",
    "advice.too_dear": "费用 {money:money} {currency}；上限为 {limit:money} {currency}",
    "advice.too_slow_to_answer": "每次应答 {latency_s}；上限为 {limit_s}",
    "advice.session_too_short": "需要 {wall_s}，而一次会话只有 {limit_s}；有检查点才能接续",
    "advice.spot_hopeless": "每小时中断 {rate:plain} 次，任务永远无法完成",
    "advice.deadline_uncertain": "期限（{deadline_s}）落在其区间内：可能需要 {high_s}。",
    "advice.money_uncertain": "上限 {limit:money} {currency} 落在其区间内：费用可能达到 {high:money}。",
    "advice.memory_uncertain": "可能放不下：最多需要 {high_bytes}，每张卡有 {card_bytes}。",
    "advice.latency_uncertain": "上限（{limit_s}）落在其区间内：一次应答可能需要 {high_s}。",
    "advice.beyond_team": "对团队的要求超过了 {team:team}。",
    "advice.spot_too_risky": "预计中断 {interruptions:plain} 次，而且没有检查点。",
    "advice.price_stale": "其价格已有 {days:count} 天：决定之前请再查一次。",
    "advice.price_undated": "其价格的来源没有日期：决定之前请再查一次。",
    "advice.egress_dominates": "数据传出占账单的 {share:share}：把数据留在那里，或少传一些。",
    "advice.setup_dominates": "启动与安装占账单的 {share:share}：使用现成的镜像，或在一台机器上连续运行多个任务。",
    "advice.idle_dominates": "空闲时间占账单的 {share:share}：任务结束后请关机。",
    "advice.disk_dominates": "保留磁盘占账单的 {share:share}：任务结束后请删除磁盘。",
    "advice.spot_loss_dominates": "中断后重做的工作占账单的 {share:share}：请更频繁地写检查点。",
    "advice.rounding_dominates": "向上取整占账单的 {share:share}：以这家厂商的计费方式，任务太短。",
    "advice.spot_interruptions": "预计中断次数：{interruptions:plain}；账单已包含重做的工作。",
    "advice.bill_incomplete": "账单不含任何来源都没有的数据：{figures:figure}。",
    "advice.waits_for_loader": "其加速器有 {share:share} 的时间在等数据加载。",
    "advice.fits_sharded": "用 {strategy:strategy} 可放进 {cards:count} 张卡。",
    "advice.accumulates": "批次分为 {parts:count} 份，每张卡每份 {batch:count} 个样本。",
    "advice.cards_needed": "用 {strategy:strategy} 时，{cards:count} 张这样的卡即可。",
    "advice.several_sessions": "任务需要多次会话（每次 {limit_s}），并从检查点接续。",
    "advice.converted": "其价格以 {currency} 计，按 {date} 的汇率换算。",
    "advice.power_left_out": "其电费未计入。",
    "advice.no_interval": "其用时没有区间，因为一个进程给不出区间：请再测量一次。",
    "advice.memory_unknown": "不知道任务能否放进其显存。",
    "advice.loader_unknown": "不知道其 CPU 能供给多少数据；用时假定数据加载跟得上。",
}

_TURNS: Final[dict[str, str]] = {
    "turn.price": "{subject} 每小时 {at:money} {currency}（现为 {now:money}）",
    "turn.time": "{subject} 用时 {at:s}（现为 {now:s}）",
    "turn.loader": "{subject} 的数据加载需要 {at:s}（现为 {now:s}）",
    "turn.interruptions": "{subject} 每小时中断 {at:plain} 次（现为 {now:plain}）",
    "turn.hour_worth": "等待一小时值 {at:money} {currency}（现为 {now:money}）",
    "turn.deadline": "期限为 {at:s}（现为 {now:s}）",
    "turn.money": "预算为 {at:money} {currency}（现为 {now:money}）",
    "turn.jobs": "每月 {at:plain} 个任务（现为 {now:plain}）",
    "turn.gain": "解决问题可得 {at:ratio}（现为 {now:ratio}）",
    "turn.then": "{what}：{then}",
    "turn.other": "则改选 {choice}",
    "turn.none": "则没有可推荐的选择",
}

_TERMS: Final[dict[str, str]] = {
    "advise.here": "本机",
    "advise.list": "候选",
    "advise.bill": "{name} 的账单",
    "advise.turns": "什么会改变答案",
    "advise.name": "地点",
    "advise.time": "完成用时",
    "advise.money": "费用（{currency}）",
    "advise.energy": "能耗",
    "advise.front": "未被超越",
    "advise.note": "须知",
    "advise.per_day": "每天可依次完成的任务数：{count}",
    "advise.co2": "CO2：{kg} kg（{country} 电网，{year} 年平均值）",
    "line.compute": "训练",
    "line.setup": "启动与安装",
    "line.idle": "空闲",
    "line.rounding": "向上取整",
    "line.spot_loss": "因中断重做的工作",
    "line.disk": "磁盘",
    "line.egress": "数据传出",
    "line.total": "合计",
    "figure.price": "价格",
    "figure.spot_price": "空闲算力价格",
    "figure.interruptions": "中断频率",
    "figure.purchase_price": "购买价格",
    "figure.jobs_per_month": "每月任务数",
    "figure.latency": "应答时间",
    "figure.billing_granularity": "计时取整方式",
    "figure.disk_price": "磁盘价格",
    "figure.egress_price": "数据传出价格",
    "figure.accelerator": "加速器",
    "strategy.ddp": "普通数据并行",
    "strategy.zero1": "ZeRO 第 1 阶段",
    "strategy.zero2": "ZeRO 第 2 阶段",
    "strategy.zero3": "ZeRO 第 3 阶段或 FSDP",
    "team.novice": "新手",
    "team.some": "有一定经验",
    "team.ops": "有运维能力",
}

ADVICE: Final[dict[str, str]] = {**_VERDICTS, **_EXACT, **_REASONS, **_TURNS, **_TERMS}
