"""What measuring under an agent costs and changes, against bare loops over the same command; two or three minutes.

    make bench-node                     # or a part of it: make bench-node ARGS=builtin, ARGS=iozone, ARGS=silence

Jobs of ten runs under the agent, whose ledger is a PostgreSQL that syncs, and bare loops take turns: what the agent
adds to a run, and whether throughputs differ (two-sample tests, corrected over all modes). Then, with a real service,
how often the agent wakes up and speaks to the network while a run is on. Bars (issue 4): at most 5 ms a run at 20 ms a
run, 1 % with IOzone, one context switch a second, no network call.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import ks_2samp, mannwhitneyu

from orchestrator.client import Client
from orchestrator.embedded.home import discard
from orchestrator.embedded.service import Service
from tests.benchmarks import bars, ways_to_run
from tests.benchmarks.bars import Line
from tests.benchmarks.ways_to_run import MODES, Way, Work

BUILTIN = Work(engine="builtin", options={}, levels=(2, 2048, 64))
IOZONE = Work(engine="iozone", options={"settle_s": 0.0}, levels=(2, 65536, 64))
"""Without its own pauses, of 2 s around each test, beside which an agent costs nothing that could be measured."""
BUILTIN_TURNS, IOZONE_TURNS = 15, 3
LONG_RUN = """
name: one long run
design:
  blocks:
    - {levels: {threads: [1], file_size_kb: [64], record_size_kb: [64]}}
replicates: 1
engine: iozone
"""
"""IOzone's own pauses make it last 20 s with nothing to do: whoever wakes up meanwhile is us."""
WATCHED_S = 10.0
SIGNIFICANT = 0.05


def take_turns(work: Work, turns: int, *, beside_the_shell: bool) -> list[Way]:
    """Runs under the agent, in a loop of the engine and, where there is a program for it, in one of the shell."""
    with ways_to_run.node() as node:
        makers = [node.under_the_agent, node.in_a_loop, *([node.in_the_shell] if beside_the_shell else [])]
        for make in makers:  # once for nothing: what is built, started or connected once a machine is no run's cost
            make(work, Way())
        ways = [Way() for _ in makers]
        for turn in range(turns):
            for at in range(len(makers)):
                chosen = (turn + at) % len(makers)
                makers[chosen](work, ways[chosen])
    return ways


def cost_of_builtin() -> Iterator[Line]:
    """Against the bar in milliseconds."""
    agent, loop = take_turns(BUILTIN, BUILTIN_TURNS, beside_the_shell=False)
    added_ms = 1000 * (agent.outside_s - loop.outside_s)
    figures = shares(agent, loop)
    yield Line(
        what=f"builtin, {1000 * agent.benchmark_s / agent.runs:.0f} ms a run: the agent adds to a run",
        bar="<= 5 ms",
        measured=f"{added_ms:.2f} ms",
        met=added_ms <= 5.0,
        figures=figures,
    )
    yield from same_throughputs("builtin", agent, loop)


def cost_with_iozone() -> Iterator[Line]:
    """Against the bar in per cent: by the parts that are not IOzone, and by the clock on the wall."""
    agent, loop, shell = take_turns(IOZONE, IOZONE_TURNS, beside_the_shell=True)
    run_s = agent.benchmark_s / agent.runs
    added = (agent.outside_s - loop.outside_s) / run_s
    yield Line(
        what=f"IOzone, {1000 * run_s:.0f} ms a run: the agent adds to a run",
        bar="<= 1 %",
        measured=f"{100 * added:.2f} %",
        met=added <= 0.01,
        figures=shares(agent, loop),
    )
    ratio, low, high = ratio_of_turns(agent, shell)
    yield Line(
        what="IOzone: time of a job / time of a shell loop over the same command",
        bar="<= 1.01 is in the 95 % interval, or above it",
        measured=f"{ratio:.3f} ({low:.3f} to {high:.3f})",
        met=low <= 1.01,
        figures={"ratio": ratio, "low": low, "high": high, "turns": len(shell.turns_s)},
    )
    yield from same_throughputs("IOzone", agent, loop)


def shares(agent: Way, loop: Way) -> dict[str, float]:
    """Time in benchmark / time of the job, under the agent and in the loop; a run in ms."""
    told: dict[str, float] = {"runs": agent.runs}
    for name, way in (("agent", agent), ("loop", loop)):
        told[f"{name}_benchmark_share"] = way.benchmark_s / sum(way.turns_s)
        told[f"{name}_run_ms"] = 1000 * sum(way.turns_s) / way.runs
        told[f"{name}_outside_ms"] = 1000 * way.outside_s
    return told


def ratio_of_turns(one: Way, other: Way) -> tuple[float, float, float]:
    """The median over turns, which are neighbours in time, with its bootstrap interval (95 %)."""
    ratios = np.array(one.turns_s) / np.array(other.turns_s)
    drawn = np.random.default_rng(4).choice(ratios, (4000, len(ratios)))
    low, high = np.quantile(np.median(drawn, axis=1), (0.025, 0.975))
    return float(np.median(ratios)), float(low), float(high)


def same_throughputs(engine: str, agent: Way, loop: Way) -> Iterator[Line]:
    """A line a mode; p values times the number of modes (Bonferroni)."""
    for mode in MODES:
        one, other = agent.values[mode], loop.values[mode]
        ks, mw = (min(1.0, len(MODES) * float(test(one, other).pvalue)) for test in (ks_2samp, mannwhitneyu))
        ratio = statistics.median(one) / statistics.median(other)
        yield Line(
            what=f"{engine}, {mode}: throughput under the agent and in the loop, {len(one)} runs each",
            bar="no difference (p >= 0.05)",
            measured=f"medians {ratio:.3f}, KS p {ks:.2f}, Mann-Whitney p {mw:.2f}",
            met=min(ks, mw) >= SIGNIFICANT,
            figures={"ratio": ratio, "ks_p": ks, "mw_p": mw},
        )


def silence() -> Iterator[Line]:
    """What an agent does while a run is on."""
    per_s, calls = observed()
    yield Line(
        what="context switches of the agent a second while a run is on",
        bar="<= 1",
        measured=f"{per_s:.2f}",
        met=per_s <= 1.0,
    )
    yield Line(
        what=f"its network system calls in {WATCHED_S / 2:.0f} s of a run",
        bar="0",
        measured="no strace" if calls is None else str(calls),
        met=None if calls is None else calls == 0,
    )


def observed() -> tuple[float, int | None]:
    """The agent of a real service while one IOzone run is on: context switches a second, network system calls."""
    home = Path(tempfile.mkdtemp(prefix="ms-", dir="/var/tmp"))
    with Service(home) as service, Client(service.address, service.token) as client:
        client.submit(LONG_RUN)
        while not running(home):
            time.sleep(0.05)
        time.sleep(1.0)  # the run has begun for good
        agent = service.pids["agent-local-1"]
        before, begin = switches(agent), time.perf_counter()
        time.sleep(WATCHED_S / 2)
        per_s = (switches(agent) - before) / (time.perf_counter() - begin)
        calls = network_calls(agent)
        assert running(home), "the run ended before the watch"
    discard(home)
    return per_s, calls


def running(home: Path) -> bool:
    return any(home.glob("nodes/*/running.json"))


def switches(pid: int) -> int:
    """Context switches of all threads of a process."""
    found = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        lines = status.read_text().splitlines()
        found += sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)
    return found


def network_calls(pid: int) -> int | None:
    """Those that ended within half of the watch, counted by strace; None where it is not installed."""
    if shutil.which("strace") is None:
        return None
    argv = ["timeout", "-s", "INT", str(WATCHED_S / 2), "strace", "-f", "-qq", "-e", "trace=network", "-p", str(pid)]
    told = subprocess.run(argv, capture_output=True, text=True, check=False)
    return sum(" = " in line for line in told.stderr.splitlines())


def main(parts: Sequence[str]) -> None:
    """Measure, and tell."""
    measures: dict[str, Callable[[], Iterator[Line]]] = {"builtin": cost_of_builtin}
    if shutil.which("iozone") is not None:
        measures |= {"iozone": cost_with_iozone, "silence": silence}
    if unknown := set(parts) - set(measures):
        raise SystemExit(f"no such part here: {', '.join(unknown)}; there are {', '.join(measures)}")
    bars.tell("node", [line for part in parts or measures for line in measures[part]()])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="What measuring under an agent costs and changes.")
    parser.add_argument("parts", nargs="*", help="builtin, iozone, silence; all of them when none is named")
    main(parser.parse_args().parts)
