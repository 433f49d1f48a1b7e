"""Write the tables that hold the articles' figures beside ours, from results/articles.json.

``python docs/make_articles.py`` writes the part of README.md, README.zh-CN.md and docs/articles.md between the marks
``<!-- articles:begin -->`` and ``<!-- articles:end -->``. A test checks that they are up to date.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "results" / "articles.json"
EPOCH_ITEMS = 50_000
ABSENT = {"en": "not measured here", "zh": "本机未测"}

WORDS: dict[str, dict[str, str]] = {
    "en": {
        "head": "| What | The article | Here: PyTorch | Here: PaddlePaddle | Why they differ |",
        "cold": "SimpleNet, 100 steps, from the start of the process (cold)",
        "warm": "SimpleNet, 100 steady steps (warm)",
        "rtx": "SimpleNet, 100 steps, RTX 3060",
        "v100": "SimpleNet, 100 steps, Tesla V100",
        "epoch": "LeNet, one epoch of 50,000 images, batch 256, CPU",
        "epoch_gpu": "LeNet, one epoch, batch 256, RTX 3060",
        "small": "LeNet, one epoch, batch 32, CPU",
        "ratio": "LeNet, GPU over CPU at batch 256 and 32",
        "data": "Share of data loading, CPU, batch 256",
        "backward": "Share of backward, CPU, batch 256",
        "memory": "Memory, CPU, batch 256",
        "why_cold": "ours is start, import, build, first step and 99 usual ones; the article timed its loop alone",
        "why_warm": "104.7 MFLOP a step: 18.72 s is 0.56 GFLOP/s, which no healthy core of that CPU does; threads fighting for cores give such figures",
        "why_gpu": "20.8 ms a step is 0.04 % of the card: the article measured start-up, and did not wait for the device",
        "why_v100": "13.5 ms a step is 0.055 % of the card: start-up again",
        "why_epoch": "the article's CPU run swapped (1.2 GB) and is no baseline",
        "why_epoch_gpu": "0.05 % of the card's peak; the article's phases leave 60 % of the time unexplained",
        "why_small": "the article gives only a ratio (5.3×) for batch 32",
        "why_ratio": "a ratio needs two healthy sides; the article had none",
        "why_data": "phases are measured with hooks and sum to the step; the article timed functions",
        "why_memory": "proportional set size; the article's 3.4 GB plus swap is several times what this net needs",
        "swap": "swap",
        "unhealthy": "unhealthy: {codes}",
        "note": "Measured on {cpu}, {cores} cores, no accelerator: `python benchmarks/articles.py`, which runs [plans/article1.toml](plans/article1.toml) and [plans/article2.toml](plans/article2.toml). Default threads ({threads}), stand-in data in the CIFAR-10 format; median over fresh processes [95 % interval].",
    },
    "zh": {
        "head": "| 项目 | 文章 | 本机：PyTorch | 本机：PaddlePaddle | 差异原因 |",
        "cold": "SimpleNet 100 步，从进程启动算起（冷）",
        "warm": "SimpleNet 100 个稳定步（热）",
        "rtx": "SimpleNet 100 步，RTX 3060",
        "v100": "SimpleNet 100 步，Tesla V100",
        "epoch": "LeNet 一轮 50,000 张图，批大小 256，CPU",
        "epoch_gpu": "LeNet 一轮，批大小 256，RTX 3060",
        "small": "LeNet 一轮，批大小 32，CPU",
        "ratio": "LeNet，批大小 256 与 32 时 GPU 相对 CPU",
        "data": "数据加载占比，CPU，批大小 256",
        "backward": "反向占比，CPU，批大小 256",
        "memory": "内存，CPU，批大小 256",
        "why_cold": "本机数字含启动、导入、构建、第一步和 99 个普通步；文章只给循环计时",
        "why_warm": "每步 104.7 MFLOP：18.72 s 只合 0.56 GFLOP/s，该 CPU 任何一个正常的核都不会这么慢；线程争抢核心时会出现这样的数字",
        "why_gpu": "每步 20.8 ms 只用到该卡的 0.04 %：文章测到的是启动时间，而且没有等待设备",
        "why_v100": "每步 13.5 ms 只用到该卡的 0.055 %：同样是启动时间",
        "why_epoch": "文章的 CPU 运行用到了交换区（1.2 GB），不能作为基线",
        "why_epoch_gpu": "只有该卡峰值的 0.05 %；文章的各阶段占比有 60 % 的时间没有着落",
        "why_small": "文章对批大小 32 只给出比值（5.3×）",
        "why_ratio": "比值需要两侧都健康；文章两侧都不健康",
        "why_data": "各阶段由钩子测得，总和等于一步；文章是给函数计时",
        "why_memory": "按比例分摊的内存（PSS）；文章的 3.4 GB 加交换区是该网络所需的数倍",
        "swap": "交换区",
        "unhealthy": "不健康：{codes}",
        "note": "测于 {cpu}，{cores} 核，无加速器：`python benchmarks/articles.py`，它运行 [plans/article1.toml](plans/article1.toml) 和 [plans/article2.toml](plans/article2.toml)。默认线程数（{threads}），CIFAR-10 格式的替代数据；多个新进程的中位数 [95 % 区间]。",
    },
}


def seconds(value: float) -> str:
    """Three significant digits."""
    return f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms"


class Tables:
    """Rows of both tables in one language.

    Args:
        result: Content of results/articles.json.
        language: ``"en"`` or ``"zh"``.
    """

    def __init__(self, result: dict[str, Any], language: str) -> None:
        self.result = result
        self.words = WORDS[language]
        self.absent = ABSENT[language]

    def cell(self, study: str, framework: str, **levers: Any) -> dict[str, Any] | None:
        """The condition with these levers."""
        for one in self.result["studies"][study]["cells"]:
            if one.get("framework") == framework and all(one["levers"].get(k) == v for k, v in levers.items()):
                return one if one.get("step_s") else None
        return None

    def per_step(self, study: str, framework: str, steps: float, **levers: Any) -> str:
        """``steps`` steps with their interval, or why there is no figure."""
        one = self.cell(study, framework, **levers)
        if one is None:
            return self.absent
        text = seconds(one["step_s"] * steps)
        if one["low_s"]:
            text += f" [{seconds(one['low_s'] * steps)}, {seconds(one['high_s'] * steps)}]"
        return text + self.warning(one)

    def warning(self, one: dict[str, Any]) -> str:
        """What made the condition unhealthy, if anything did."""
        codes = ", ".join(one.get("unhealthy", []))
        return f" ({self.words['unhealthy'].format(codes=codes)})" if codes else ""

    def cold(self, framework: str) -> str:
        """A hundred steps from a cold start."""
        one = self.cell("article1", framework)
        return seconds(one["cold_100_s"]) if one and one.get("cold_100_s") else self.absent

    def share(self, framework: str, phase: str) -> str:
        """Share of a phase at batch 256."""
        one = self.cell("article2-batch", framework, batch_size=256)
        return f"{100 * one['phase_share'][phase]:.1f} %" if one else self.absent

    def memory(self, framework: str) -> str:
        """Memory at batch 256."""
        one = self.cell("article2-batch", framework, batch_size=256)
        if one is None or one["pss_bytes"] is None:
            return self.absent
        return f"{one['pss_bytes'] / 2**20:,.0f} MiB, {self.words['swap']} {one['swap_bytes'] / 2**20:,.0f}"

    def row(self, what: str, article: str, ours: tuple[str, str], why: str) -> str:
        """One row."""
        return f"| {self.words[what]} | {article} | {ours[0]} | {ours[1]} | {self.words[why]} |"

    def both(self, make: Any) -> tuple[str, str]:
        """The same figure for both frameworks."""
        return make("pytorch"), make("paddle")

    def summary(self) -> list[str]:
        """The table of the README."""
        none = (self.absent, self.absent)

        def epoch(batch: int) -> tuple[str, str]:
            return self.both(lambda f: self.per_step("article2-batch", f, EPOCH_ITEMS / batch, batch_size=batch))

        return [
            self.words["head"],
            "|---|---|---|---|---|",
            self.row("warm", "18.72 s (i7-11800H)", self.both(lambda f: self.per_step("article1", f, 100)), "why_warm"),
            self.row("cold", "–", self.both(self.cold), "why_cold"),
            self.row("rtx", "2.08 s", none, "why_gpu"),
            self.row("v100", "1.35 s", none, "why_v100"),
            self.row("epoch", "189.7 s (i7-11800H)", epoch(256), "why_epoch"),
            self.row("small", "–", epoch(32), "why_small"),
            self.row("epoch_gpu", "23.4 s", none, "why_epoch_gpu"),
            self.row("ratio", "8.1×, 5.3×", none, "why_ratio"),
            self.row("data", "9 %", self.both(lambda f: self.share(f, "data_wait")), "why_data"),
            self.row("backward", "63 %", self.both(lambda f: self.share(f, "backward")), "why_data"),
            self.row("memory", "3.4 GB + 1.2 GB swap", self.both(self.memory), "why_memory"),
        ]

    def note(self) -> str:
        """Where and how the figures were made."""
        machine = self.result["machine"]
        one = self.cell("article1", "pytorch")
        threads = one["levers"].get("threads") if one else "–"
        return self.words["note"].format(cpu=machine["cpu"], cores=machine["usable_cpus"], threads=threads)

    def conditions(self, study: str) -> list[str]:
        """Every condition of a study."""
        lines = [
            "| Condition | Step time | 95 % interval | Samples/s | Largest phase | PSS | Processes |",
            "|---|--:|--:|--:|---|--:|--:|",
        ]
        for one in self.result["studies"][study]["cells"]:
            if not one.get("step_s"):
                lines.append(f"| {one['label']} | {self.absent} | | | | | {one['processes']} |")
                continue
            phase, share = max(one["phase_share"].items(), key=lambda item: float(item[1]))
            interval = f"{seconds(one['low_s'])} – {seconds(one['high_s'])}" if one["low_s"] else "–"
            pss = f"{one['pss_bytes'] / 2**20:,.0f} MiB" if one["pss_bytes"] else "–"
            rate = one["samples_per_step"] / one["step_s"]
            lines.append(
                f"| {one['label']}{self.warning(one)} | {seconds(one['step_s'])} | {interval} | {rate:,.0f} "
                f"| {phase.replace('_', ' ')} {100 * share:.0f} % | {pss} | {one['processes']} |"
            )
        return lines

    def comparisons(self, study: str) -> list[str]:
        """Every ratio printed or refused."""
        lines = ["| Condition | Against | Speed-up | 95 % interval |", "|---|---|--:|--:|"]
        for one in self.result["studies"][study]["ratios"]:
            if one["code"] == "ratio_refused":
                lines.append(f"| {one['cell']} | {one['baseline']} | refused: {', '.join(one['reasons'])} | |")
            elif one.get("speedup"):
                interval = f"{one['low']:.2f} – {one['high']:.2f}" if one.get("low") else "–"
                lines.append(f"| {one['cell']} | {one['baseline']} | {one['speedup']:.2f}× | {interval} |")
        return lines


TITLES = {
    "article1": "SimpleNet, default threads",
    "article1-one-thread": "SimpleNet, one thread",
    "article1-width": "SimpleNet, wider hidden layer",
    "article2-batch": "LeNet, batch size",
    "article2-device": "LeNet, batch already on the device (compute ceiling)",
    "article2-loader": "LeNet, loader alone (input ceiling)",
}


def details(result: dict[str, Any]) -> list[str]:
    """What docs/articles.md holds besides the summary: every condition of every study."""
    tables = Tables(result, "en")
    lines = []
    for study, title in TITLES.items():
        lines += ["", f"### {title}", "", *tables.conditions(study)]
        if result["studies"][study]["ratios"]:
            lines += ["", *tables.comparisons(study)]
    return lines


def inserted(text: str, lines: list[str]) -> str:
    """A page with what stands between its marks brought up to date."""
    body = "\n".join(["<!-- articles:begin -->", *lines, "<!-- articles:end -->"])
    return re.sub(r"<!-- articles:begin -->.*<!-- articles:end -->", lambda _: body, text, flags=re.DOTALL)


def outputs() -> dict[Path, str]:
    """Path → what it must contain."""
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    made = {}
    for name, language in (("README.md", "en"), ("README.zh-CN.md", "zh"), ("docs/articles.md", "en")):
        tables = Tables(result, language)
        note = tables.note()
        lines = [*tables.summary(), "", note]
        if name == "docs/articles.md":
            lines = [*tables.summary(), "", note.replace("](plans/", "](../plans/"), *details(result)]
        path = ROOT / name
        made[path] = inserted(path.read_text(encoding="utf-8"), lines)
    return made


if __name__ == "__main__":
    for path, content in outputs().items():
        path.write_text(content, encoding="utf-8")
