"""What the ledger counts, in Prometheus' words. `NAMES` is what dashboards may use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from orchestrator.contracts.figures import Figures, NodeFigures

PREFIX = "modescope_"


def families(figures: Figures, *, readers: int) -> Iterator[Metric]:
    """Every metric but the latencies. Counters fall back when a campaign is archived: Prometheus takes that as a start.

    `readers`: of event streams.
    """
    yield _gauge("campaigns", "Campaigns by state.", ("state",), _single(figures.campaigns))
    yield _gauge("jobs", "Jobs by state.", ("state",), _single(figures.jobs))
    yield _counter("runs", "Runs taken in, by node and validity.", ("node", "validity"), figures.runs)
    yield _counter("invalid_runs", "Invalid runs by node and reason.", ("node", "reason"), figures.invalid)
    yield _counter("job_failures", "Failed attempts by kind.", ("kind",), _single(figures.failures))
    yield _counter("lease_expiries", "Leases that ran out.", (), {(): figures.lease_expiries})
    yield _gauge("analyses", "Analyses by state.", ("state",), _single(figures.analyses))
    yield _counter("fits", "Configurations fitted.", (), {(): figures.fits})
    yield _counter("fit_seconds", "Time spent on these fits.", (), {(): figures.fit_s})
    yield from _of_nodes(figures.nodes)
    yield _gauge("controller_silent_seconds", "Since a controller reconciled.", (), {(): figures.unwatched_s})
    yield _gauge("event_streams", "Open event streams.", (), {(): readers})


def _of_nodes(nodes: Iterable[NodeFigures]) -> Iterator[Metric]:
    known = list(nodes)
    states = {(node.name, node.state): 1 for node in known}
    yield _gauge("node_state", "1 for the state a node is in.", ("node", "state"), states)
    yield _gauge("node_online", "Is its agent heard of?", ("node",), {(node.name,): int(node.online) for node in known})
    waited = {(node.name,): node.spool_runs for node in known}
    yield _gauge("spool_runs", "Runs that had waited in a spool when its agent last reported.", ("node",), waited)


Samples = Mapping[tuple[str, ...], float]


def _single(counts: Mapping[str, int]) -> Samples:
    return {(name,): count for name, count in counts.items()}


def _gauge(name: str, text: str, labels: tuple[str, ...], samples: Samples) -> Metric:
    return _filled(GaugeMetricFamily(PREFIX + name, text, labels=labels), samples)


def _counter(name: str, text: str, labels: tuple[str, ...], samples: Samples) -> Metric:
    return _filled(CounterMetricFamily(PREFIX + name, text, labels=labels), samples)


def _filled(family: GaugeMetricFamily | CounterMetricFamily, samples: Samples) -> Metric:
    for labels, value in samples.items():
        family.add_metric(labels, value)
    return family
