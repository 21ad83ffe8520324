"""What the ledger counts, in Prometheus' words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from orchestrator.contracts.figures import Figures, NodeFigures
from orchestrator.contracts.rates import Forecast, NodeRate

PREFIX = "modescope_"


def families(
    figures: Figures, rates: Iterable[NodeRate], forecasts: Mapping[int, Forecast], *, readers: int
) -> Iterator[Metric]:
    """Every metric but the latencies. Counters fall back when a campaign is archived: Prometheus takes that as a start.

    `readers`: of event streams.
    """
    yield _gauge("campaigns", "Campaigns by state.", ("state",), _single(figures.campaigns))
    yield _gauge("jobs", "Jobs by state.", ("state",), _single(figures.jobs))
    yield _counter("runs", "Runs taken in, by node and validity.", ("node", "validity"), figures.runs.items())
    yield _counter("invalid_runs", "Invalid runs by node and reason.", ("node", "reason"), figures.invalid.items())
    yield _counter("job_failures", "Failed attempts by kind.", ("kind",), _single(figures.failures))
    yield _counter("lease_expiries", "Leases that ran out.", (), [((), figures.lease_expiries)])
    yield _gauge("analyses", "Analyses by state.", ("state",), _single(figures.analyses))
    yield _counter("fits", "Configurations fitted.", (), [((), figures.fits)])
    yield _counter("fit_seconds", "Time spent on these fits.", (), [((), figures.fit_s)])
    yield from _of_nodes(figures.nodes)
    yield from _of_rates(rates, forecasts)
    yield _gauge("controller_silent_seconds", "Since a controller reconciled.", (), [((), figures.unwatched_s)])
    yield _gauge("event_streams", "Open event streams.", (), [((), readers)])


def _of_nodes(nodes: Iterable[NodeFigures]) -> Iterator[Metric]:
    known = list(nodes)
    states = [((node.name, node.state), 1) for node in known]
    yield _gauge("node_state", "1 for the state a node is in.", ("node", "state"), states)
    yield _gauge("node_online", "Is its agent heard of?", ("node",), [((node.name,), node.online) for node in known])
    waited = [((node.name,), node.spool_runs) for node in known]
    yield _gauge("spool_runs", "Runs that had waited in a spool when its agent last reported.", ("node",), waited)


def _of_rates(rates: Iterable[NodeRate], forecasts: Mapping[int, Forecast]) -> Iterator[Metric]:
    """Estimates with both ends of their intervals; a node that works on several campaigns has the latest rate."""
    latest = {rate.node: rate for rate in sorted(rates, key=lambda rate: rate.at)}
    per_node = [
        ((rate.node, bound), value)
        for rate in latest.values()
        for bound, value in _bounds(rate.runs_per_s, rate.low_per_s, rate.high_per_s)
    ]
    yield _gauge("node_runs_per_second", "Service rate of a node.", ("node", "bound"), per_node)
    left = [
        ((str(campaign), bound), value)
        for campaign, forecast in forecasts.items()
        for bound, value in _bounds(forecast.time_left_s, forecast.time_left_low_s, forecast.time_left_high_s)
    ]
    yield _gauge("campaign_time_left_seconds", "Time left of a campaign.", ("campaign", "bound"), left)


def _bounds(estimate: float | None, low: float | None, high: float | None) -> list[tuple[str, float]]:
    """Those that are known, by name."""
    named = {"estimate": estimate, "low": low, "high": high}
    return [(name, value) for name, value in named.items() if value is not None]


Samples = Iterable[tuple[Sequence[str], float]]
"""Label values, and the value."""


def _single(counts: Mapping[str, int]) -> Samples:
    return [((name,), count) for name, count in counts.items()]


def _gauge(name: str, text: str, labels: tuple[str, ...], samples: Samples) -> Metric:
    return _filled(GaugeMetricFamily(PREFIX + name, text, labels=labels), samples)


def _counter(name: str, text: str, labels: tuple[str, ...], samples: Samples) -> Metric:
    return _filled(CounterMetricFamily(PREFIX + name, text, labels=labels), samples)


def _filled(family: GaugeMetricFamily | CounterMetricFamily, samples: Samples) -> Metric:
    for labels, value in samples:
        family.add_metric(labels, value)
    return family
