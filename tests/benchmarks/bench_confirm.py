"""Flags and their re-runs through the whole system, on controls of known truth played back by the engine `replay`.

    python -m tests.benchmarks.bench_confirm --runs 150

PostgreSQL, Redis, a controller and two agents play a campaign of controls; an analysis worker's work is done here;
what is flagged is run again as users do, and `calibration` counts. Bars (issue 8): at a separation of 5 or more
and weights of .1 or more, 95 % of controls with two modes are flagged; of those with one, at most 1 % is confirmed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from orchestrator.campaigns import repetition
from orchestrator.campaigns.calibration import calibration
from orchestrator.contracts.campaigns import Configuration, State
from orchestrator.design.study import Study
from orchestrator.design.submission import submission
from orchestrator.store.ports import Store
from orchestrator.store.postgres import PostgresStore
from tests.benchmarks import bars
from tests.benchmarks import bed as beds
from tests.benchmarks.bars import Line
from workers.analyse import Analyst

WEIGHTS = (0.1, 0.2, 0.3, 0.5)
SEPARATIONS = (3.0, 4.0, 5.0, 6.0, 8.0)
SPREAD, FAST = 40_000.0, 1_200_000.0
NULLS: Mapping[str, str] = {
    "normal": f"normal:1,{FAST},{SPREAD}",
    "lognormal": "lognormal:1,14,0.25",
    "skewed": f"normal:0.8,{FAST},{SPREAD};0.2,{FAST - 1.5 * SPREAD},{2 * SPREAD}",
    "heavy": f"normal:0.9,{FAST},{SPREAD};0.1,{FAST},{3 * SPREAD}",
}
"""One density mode each; two of them have two components."""
WITHIN_S = 600
PROCESSES = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Truth:
    """What a control was drawn from."""

    kind: str
    separation: float = 0.0
    weight: float = 0.0


def main() -> None:
    """A campaign of controls, its re-run, and what came of both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=150, help="of every control")
    parser.add_argument("--each", type=int, default=5, help="controls for each separation and weight")
    parser.add_argument("--nulls", type=int, default=50, help="controls for each distribution with one mode")
    arguments = parser.parse_args()
    bars.tell("confirm", list(_measure(arguments.runs, arguments.each, arguments.nulls)))


def _measure(runs: int, each: int, nulls: int) -> Iterator[Line]:
    truths, study = _study(runs, each, nulls)
    with beds.made() as bed:
        store = PostgresStore(bed.database_url, keep=2)
        bed.start_agents(store, 2)
        first, _ = store.campaigns.submit(submission(study))
        found = _played(store, first.id)
        flagged = [one for one in found if one.verdict == "multimodal"]
        again, _ = repetition.submit(store, first.id, flagged, key="what is flagged, again")
        confirmed = _played(store, again.id)
        told = calibration(store, first.id)
        store.close()
    yield from _recall(found, truths)
    false = told.false_flags
    yield Line(
        what=f"controls with one mode that are flagged, {runs} runs",
        bar="",
        measured=f"{false.count} of {false.of} ({false.low:.3f} to {false.high:.3f})",
        met=None,
    )
    share = told.false_confirmations.count / told.false_confirmations.of
    yield Line(
        what="controls with one mode that the re-run confirmed",
        bar="<= 0.01",
        measured=f"{told.false_confirmations.count} of {told.false_confirmations.of}",
        met=share <= 0.01,
    )
    yield from _outcomes(confirmed, truths)


def _study(runs: int, each: int, nulls: int) -> tuple[dict[str, Truth], Study]:
    truths, controls = {}, {}
    for separation in SEPARATIONS:
        for weight in WEIGHTS:
            for number in range(each):
                name = f"two_{separation:g}_{100 * weight:g}_{number}".replace(".", "_")
                truths[name] = Truth(kind="two", separation=separation, weight=weight)
                slow = FAST - separation * SPREAD
                controls[name] = f"normal:{weight},{slow},{SPREAD};{1 - weight},{FAST},{SPREAD}"
    for kind, mixture in NULLS.items():
        for number in range(nulls):
            truths[f"one_{kind}_{number}"] = Truth(kind=kind)
            controls[f"one_{kind}_{number}"] = mixture
    study = Study.from_dict(
        {
            "name": "controls of known truth",
            "design": {"factors": [], "blocks": []},
            "replicates": runs,
            "engine": {"name": "replay", "mixture": NULLS["normal"]},
            "controls": {
                name: {"mixture": mixture, "seed": seed} for seed, (name, mixture) in enumerate(controls.items(), 1)
            },
        }
    )
    return truths, study


def _played(store: Store, campaign_id: int) -> list[Configuration]:
    """Wait for its end, and analyse it."""
    beds.wait_until(
        lambda: store.campaigns.get(campaign_id).state is not State.RUNNING, "the campaign's end", within_s=WITHIN_S
    )
    Analyst(store, processes=PROCESSES).work()
    return store.campaigns.configurations(campaign_id)


def _recall(found: list[Configuration], truths: Mapping[str, Truth]) -> Iterator[Line]:
    for separation in SEPARATIONS:
        shares = {weight: _flagged(found, truths, separation, weight) for weight in WEIGHTS}
        mean = float(np.mean(list(shares.values())))
        told = ", ".join(f"{share:.2f} at {weight:g}" for weight, share in shares.items())
        barred = separation >= 5
        yield Line(
            what=f"flagged at separation {separation:g}",
            bar=">= 0.95" if barred else "",
            measured=f"{mean:.3f} ({told})",
            met=mean >= 0.95 if barred else None,
            figures={str(weight): share for weight, share in shares.items()},
        )


def _flagged(found: list[Configuration], truths: Mapping[str, Truth], separation: float, weight: float) -> float:
    wanted = Truth(kind="two", separation=separation, weight=weight)
    return float(np.mean([one.verdict == "multimodal" for one in found if truths[str(one.control)] == wanted]))


def _outcomes(found: list[Configuration], truths: Mapping[str, Truth]) -> Iterator[Line]:
    """What the re-run says of flags that are true."""
    real = [one for one in found if one.confirmation and truths[str(one.control)].kind == "two"]
    said = [str(one.confirmation.outcome) for one in real if one.confirmation]
    told = ", ".join(f"{name} {said.count(name)}" for name in sorted(set(said)))
    yield Line(what="true flags that were measured again", bar="", measured=told, met=None)


if __name__ == "__main__":
    main()
