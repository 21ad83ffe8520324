"""The demo as a story: start everything, measure, judge, measure again what is flagged, report, stop everything."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from orchestrator import words
from orchestrator.campaigns import repetition
from orchestrator.campaigns.repetition import Repeated
from orchestrator.cli import tables
from orchestrator.cli.campaigns.watch import watch
from orchestrator.cli.files import write_whole
from orchestrator.client import Client
from orchestrator.contracts.analyses import FLAGGED
from orchestrator.contracts.campaigns import Configuration, Progress, State
from orchestrator.contracts.confirmations import Outcome
from orchestrator.contracts.errors import MissingPartError
from orchestrator.design import document
from orchestrator.design.study import Study, preset
from orchestrator.embedded import stopping
from orchestrator.embedded.home import discard
from orchestrator.embedded.service import Service

RERUN_SEED = 1
"""The same order, and the same draws of the control, in every demo."""
IOZONE_REPLICATES = 30
OWN_PAUSE = {"levels": {"file_size_kb": [64], "record_size_kb": [16], "threads": [2]}}
OWN_PAUSE_MODES = ["initial_writers", "rewriters"]
OWN_PAUSE_NOTICE = (
    "There is no C compiler here, so IOzone keeps its own pauses of 2 s around each test: "
    f"1 setting in {len(OWN_PAUSE_MODES)} modes, {IOZONE_REPLICATES} runs of 8 s, takes about 5 minutes, "
    "and as long again if it is flagged and re-run."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """What the demo found."""

    campaign: Progress
    configurations: Sequence[Configuration]
    rerun: Progress | None
    """None when nothing was flagged."""
    repeated: Sequence[Repeated]
    """The flagged configurations, measured twice."""
    report: Path

    @property
    def complete(self) -> bool:
        """Has everything been measured, the re-run included?"""
        ended = [self.campaign, *([] if self.rerun is None else [self.rerun])]
        return all(progress.campaign.state is State.COMPLETE for progress in ended)


def study_for(engine: str) -> tuple[Study, str]:
    """The preset `demo` for this engine, and what to say beforehand.

    Raises MissingPartError when IOzone is asked for and not installed.
    """
    demo = preset("demo")
    if engine != "iozone":
        return demo, ""
    if shutil.which("iozone") is None:
        raise MissingPartError("iozone is not on PATH: install it with deploy/install-iozone, or leave out --engine")
    if shutil.which("cc") is not None:
        return demo.with_engine("iozone", replicates=IOZONE_REPLICATES, settle_s=0.0), ""
    block = {**OWN_PAUSE, "modes": OWN_PAUSE_MODES}
    small = Study.from_dict(demo.as_dict() | {"design": {"blocks": [block]}})
    return small.with_engine("iozone", replicates=IOZONE_REPLICATES), OWN_PAUSE_NOTICE


def run(study: Study, *, home: Path | None, out: Path, console: Console | None, say: Callable[[str], None]) -> Shown:
    """Everything, on a service of its own that is gone afterwards; `console` None shows no progress."""
    with (
        stopping.on_request(),
        _folder(home) as folder,
        Service(folder, progress=lambda part: say(f"starting {part}")) as service,
        Client(service.address, service.token) as client,
    ):
        submitted, _ = client.submit(document.write(study.as_dict()), where=study.name)
        first = watch(client, submitted.id, console)
        found = tables.flagged_first(client.configurations(submitted.id))
        say(words.outcome(first))
        if console is not None:
            console.print(tables.of_configurations(first.campaign.factors, found))
        again, repeated = _measure_again(client, first, found, console, say)
        write_whole(out, [client.report(submitted.id).encode()])
        say(f"Wrote {out}. Stopping everything.")
    return Shown(campaign=first, configurations=found, rerun=again, repeated=repeated, report=out)


def _measure_again(
    client: Client,
    first: Progress,
    found: Sequence[Configuration],
    console: Console | None,
    say: Callable[[str], None],
) -> tuple[Progress | None, Sequence[Repeated]]:
    """Re-run the flagged configurations once, and say for each whether its verdict held."""
    flagged = [one for one in found if one.verdict == FLAGGED]
    if not flagged:
        say("Nothing is flagged, so nothing is re-run.")
        return None, ()
    say(f"Measuring {words.counted(len(flagged), 'flagged configuration')} again.")
    child, _ = client.rerun(first.campaign.id, flag=FLAGGED, seed=RERUN_SEED)
    again = watch(client, child.id, console)
    repeated = repetition.pairs(flagged, client.configurations(child.id))
    for pair in repeated:
        say(_held(first.campaign.factors, pair))
    confirmed = sum(_outcome(pair) == Outcome.CONFIRMED for pair in repeated)
    say(f"The re-run confirms {confirmed} of {len(repeated)}.")
    return again, repeated


def _held(factors: Sequence[str], pair: Repeated) -> str:
    """`confirmed: readers, threads 2: several modes again ...`, or what it is now."""
    again = pair.again
    outcome = _outcome(pair) or f"now {again.verdict or 'without a verdict'}"
    sentence = again.confirmation.sentence if again.confirmation else again.sentence or again.error or "no fit"
    return f"  {outcome}: {words.title(factors, pair.first)}: {sentence}"


def _outcome(pair: Repeated) -> Outcome | None:
    return None if pair.again.confirmation is None else pair.again.confirmation.outcome


@contextmanager
def _folder(home: Path | None) -> Iterator[Path]:
    """The home given; or one that is removed when the service in it has stopped."""
    if home is not None:
        yield home
        return
    folder = Path(tempfile.mkdtemp(prefix="modescope-demo-"))
    try:
        yield folder
    finally:
        discard(folder)
