"""A thin typed client of the REST interface; answers are the frozen values of `orchestrator.contracts`."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx
from pydantic import TypeAdapter, ValidationError

from orchestrator.api import problems
from orchestrator.api.models import LARGEST_PAGE, NewToken, Page, Readiness, Why
from orchestrator.contracts import rounds
from orchestrator.contracts.access import AuditLine, Scope, Token
from orchestrator.contracts.analyses import AnalysisVersion
from orchestrator.contracts.calibration import Calibration
from orchestrator.contracts.campaigns import Campaign, Configuration, Event, Progress
from orchestrator.contracts.canaries import CanaryReport
from orchestrator.contracts.designs import Level
from orchestrator.contracts.errors import UnavailableError
from orchestrator.contracts.findings import ConfigurationPage
from orchestrator.contracts.jobs import Job
from orchestrator.contracts.jobs import State as JobState
from orchestrator.contracts.nodes import Node
from orchestrator.contracts.rates import Duration, Forecast, NodeRate
from orchestrator.contracts.rounds import Adaptation, Choice

if TYPE_CHECKING:
    from orchestrator.api.drafts import StudyCheck

if TYPE_CHECKING:
    from analysis.attribution import Explanation

Answer = TypeVar("Answer")

_TIMEOUT = httpx.Timeout(60.0, connect=5.0)
_SILENCE = httpx.Timeout(20.0, connect=5.0)
"""Of an event stream, which says something every 15 s."""
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class Client:
    """Talks to one service. Use it as a context manager.

    Every method raises UnavailableError when nothing answers, NotAllowedError without the right token, and otherwise
    the error class the service raised, with its message.
    """

    def __init__(self, address: str, token: str) -> None:
        self._address = address
        self._root = httpx.URL(address)
        self._http = httpx.Client(
            base_url=f"{address.rstrip('/')}/api/v1/",
            headers={"Authorization": f"Bearer {token}"},
            timeout=_TIMEOUT,
            trust_env=self._root.host not in _LOOPBACK,  # a proxy from the environment never reaches our own machine
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def ready(self) -> Readiness:
        """Can the service do its work, and what is away when not?"""
        response = self._request("GET", self._root.join("/readyz"))
        if response.status_code != HTTPStatus.SERVICE_UNAVAILABLE:
            _raise_for(response)
        return self._read(Readiness, response)

    def metrics(self) -> str:
        """The service in numbers, as Prometheus reads them."""
        return self._send("GET", self._root.join("/metrics")).text

    def check(self, study: str, *, nodes: int | None = None) -> StudyCheck:
        """Every problem of a study's YAML text, or what it amounts to; nothing is stored."""
        from orchestrator.api.drafts import StudyCheck

        return self._ask(StudyCheck, "POST", "studies/check", body={"study": study, "nodes": nodes})

    def submit(self, study: str, *, where: str = "study", key: str | None = None) -> tuple[Campaign, bool]:
        """Submit a study's YAML text; True when the campaign is new, False when `key` was there before."""
        return self._create("campaigns", {"study": study, "where": where}, key)

    def rerun(
        self,
        campaign_id: int,
        *,
        flag: str | None = None,
        configurations: Sequence[tuple[int, str]] = (),
        seed: int | None = None,
        key: str | None = None,
        **wanted: object,
    ) -> tuple[Campaign, bool]:
        """Measure configurations again, as a child campaign: those with a verdict (or `incomplete`), or these.

        `configurations` are (setting id, mode) pairs; `wanted` holds the other fields of `api.models.Rerun`.
        """
        pairs = [{"setting_id": setting_id, "mode": mode} for setting_id, mode in configurations]
        body = {"flag": flag, "configurations": pairs, "seed": seed, **wanted}
        return self._create(f"campaigns/{campaign_id}/rerun", body, key)

    def campaigns(self) -> tuple[Campaign, ...]:
        """Every campaign, newest first."""
        return self._items(Campaign, "campaigns")

    def campaign(self, campaign_id: int) -> Campaign:
        """One campaign."""
        return self._ask(Campaign, "GET", f"campaigns/{campaign_id}")

    def progress(self, campaign_id: int) -> Progress:
        """How far a campaign is."""
        return self._ask(Progress, "GET", f"campaigns/{campaign_id}/progress")

    def time_left(self, campaign_id: int, *, nodes: int = 0, replicates: int | None = None) -> Forecast:
        """How long a campaign will take with so many nodes more (or fewer), or another number of replicates."""
        wanted = {"nodes": str(nodes), **({} if replicates is None else {"replicates": str(replicates)})}
        return self._read(Forecast, self._send("GET", f"campaigns/{campaign_id}/time-left", params=wanted))

    def rates(self, campaign_id: int | None = None) -> tuple[NodeRate, ...]:
        """How fast nodes work on a campaign; without one, on what they did last."""
        return self._items(NodeRate, "rates" if campaign_id is None else f"campaigns/{campaign_id}/rates")

    def duration(self, study: str, *, nodes: int) -> Duration:
        """How long a study's YAML text will take on so many nodes, by what past campaigns cost."""
        return self._ask(Duration, "POST", "studies/duration", body={"study": study, "nodes": nodes})

    def follow(self, campaign_id: int) -> Iterator[Progress]:
        """How far a campaign is, whenever that changes, until its verdicts are final.

        A stream that the service ends is opened again; UnavailableError when it breaks off, or says nothing.
        """
        while True:
            for name, data in self._told(f"campaigns/{campaign_id}/stream"):
                if name == "progress":
                    yield TypeAdapter(Progress).validate_json(data)
                if name == "end":
                    return

    def wait(self, campaign_id: int) -> Progress:
        """Follow a campaign to its end; its last progress."""
        return deque(self.follow(campaign_id), maxlen=1).pop()

    def pause(self, campaign_id: int) -> Campaign:
        """Start nothing new."""
        return self._ask(Campaign, "POST", f"campaigns/{campaign_id}/pause")

    def resume(self, campaign_id: int) -> Campaign:
        """Undo a pause."""
        return self._ask(Campaign, "POST", f"campaigns/{campaign_id}/resume")

    def cancel(self, campaign_id: int, *, now: bool = False) -> Campaign:
        """Give up what is not measured yet; `now` ends the runs in flight too."""
        return self._ask(Campaign, "POST", f"campaigns/{campaign_id}/cancel", body={"now": now})

    def configurations(
        self,
        campaign_id: int,
        *,
        verdict: str | None = None,
        mode: str | None = None,
        levels: Mapping[str, Level] | None = None,
    ) -> tuple[Configuration, ...]:
        """A campaign's configurations in order, all or those with this verdict, mode or levels."""
        wanted = {name: value for name, value in (("verdict", verdict), ("mode", mode)) if value is not None}
        wanted |= {f"level.{factor}": str(level) for factor, level in (levels or {}).items()}
        return self._items(Configuration, f"campaigns/{campaign_id}/configurations", wanted)

    def export(self, campaign_id: int, *, as_format: str = "csv") -> Iterator[bytes]:
        """Every measured value, piece by piece: as `csv`, `parquet`, `arrow` (an IPC stream), in a `bundle` (.zip)."""
        with self._streaming(f"campaigns/{campaign_id}/export", params={"format": as_format}) as response:
            yield from response.iter_bytes()

    def report(self, campaign_id: int) -> str:
        """The campaign as one self-contained HTML page."""
        return self._send("GET", f"campaigns/{campaign_id}/report").text

    def configuration(self, campaign_id: int, setting_id: int, mode: str) -> ConfigurationPage:
        """One configuration: its fit with every candidate, and its runs in order of start."""
        path = f"campaigns/{campaign_id}/configurations/{setting_id}/{quote(mode, safe='')}"
        return self._ask(ConfigurationPage, "GET", path)

    def calibration(self, campaign_id: int) -> Calibration:
        """How often the campaign's controls, whose truth is known, were flagged, and confirmed by re-runs."""
        return self._ask(Calibration, "GET", f"campaigns/{campaign_id}/calibration")

    def adaptation(self, campaign_id: int) -> Adaptation:
        """What an adaptive campaign has come to: its rounds, the runs it saved, the precision it reached."""
        return self._ask(Adaptation, "GET", f"campaigns/{campaign_id}/adaptation")

    def choice(self, campaign_id: int) -> Choice:
        """What an active campaign has come to: its rounds, how well the rest is predicted, the hours it saved."""
        return self._ask(Choice, "GET", f"campaigns/{campaign_id}/choice")

    def growth(self, campaign: Campaign) -> Adaptation | Choice | None:
        """What a campaign that grows has come to; None of one that does not."""
        match campaign.grows:
            case rounds.ADAPTIVE:
                return self.adaptation(campaign.id)
            case rounds.ACTIVE:
                return self.choice(campaign.id)
            case _:
                return None

    def canaries(self, campaign_id: int) -> CanaryReport:
        """What the canaries of a campaign say about its nodes."""
        return self._ask(CanaryReport, "GET", f"campaigns/{campaign_id}/canaries")

    def analysis_versions(self, campaign_id: int) -> tuple[AnalysisVersion, ...]:
        """A campaign's analysis as it was submitted, and what was changed afterwards."""
        return self._items(AnalysisVersion, f"campaigns/{campaign_id}/analysis-versions")

    def change_analysis(self, campaign_id: int, options: Mapping[str, object], why: str) -> AnalysisVersion:
        """Analyse a campaign that has ended anew: an exploratory version, which is then shown."""
        body = {"options": dict(options), "why": why}
        return self._ask(AnalysisVersion, "POST", f"campaigns/{campaign_id}/analysis-versions", body=body)

    def show_analysis(self, campaign_id: int, number: int) -> AnalysisVersion:
        """Show another version of the analysis."""
        return self._ask(AnalysisVersion, "POST", f"campaigns/{campaign_id}/analysis-versions/{number}/show")

    def explanation(self, campaign_id: int, setting_id: int, mode: str, *, discard: int | None = None) -> Explanation:
        """What goes with the modes of a configuration, without the first `discard` runs of each job.

        As many as the analysis sets aside, when not given.
        """
        from analysis.attribution import Explanation

        path = f"campaigns/{campaign_id}/configurations/{setting_id}/{quote(mode, safe='')}/explanation"
        return self._read(
            Explanation, self._send("GET", path, params={} if discard is None else {"discard": str(discard)})
        )

    def events(self, campaign_id: int, *, limit: int | None = None) -> tuple[Event, ...]:
        """What happened to a campaign, newest first."""
        return self._items(Event, f"campaigns/{campaign_id}/events", most=limit)

    def jobs(self, campaign_id: int, *, state: JobState | None = None, limit: int | None = None) -> tuple[Job, ...]:
        """A campaign's jobs in the order in which they are handed out, all or those in this state."""
        wanted = {} if state is None else {"state": str(state)}
        return self._items(Job, f"campaigns/{campaign_id}/jobs", wanted, most=limit)

    def why(self, campaign_id: int, job_id: int) -> str:
        """Why this job does not run now, in one sentence."""
        return self._ask(Why, "GET", f"campaigns/{campaign_id}/jobs/{job_id}/why").reason

    def nodes(self) -> tuple[Node, ...]:
        """Every node ever heard of."""
        return self._items(Node, "nodes")

    def drain(self, name: str) -> Node:
        """Give a node no more work; it ends the job it holds."""
        return self._ask(Node, "POST", f"nodes/{quote(name, safe='')}/drain")

    def reinstate(self, name: str) -> Node:
        """Let a quarantined or draining node work again."""
        return self._ask(Node, "POST", f"nodes/{quote(name, safe='')}/reinstate")

    def create_token(self, name: str, scopes: Sequence[Scope], *, days: int | None) -> NewToken:
        """Make a token; the answer holds its secret. None days: in force until revoked."""
        return self._ask(NewToken, "POST", "tokens", body={"name": name, "scopes": list(scopes), "days": days})

    def tokens(self) -> tuple[Token, ...]:
        """Every token, newest first."""
        return self._items(Token, "tokens")

    def revoke_token(self, token_id: int) -> Token:
        """End a token and the sign-ins that stand on it."""
        return self._ask(Token, "POST", f"tokens/{token_id}/revoke")

    def audited(self, *, limit: int = 100) -> tuple[AuditLine, ...]:
        """Who changed what, newest first."""
        return self._items(AuditLine, "audit", most=limit)

    def _told(self, path: str) -> Iterator[tuple[str, str]]:
        """Server-sent events, each as its name and data, until the service hangs up."""
        fields: dict[str, str] = {}
        with self._streaming(path, timeout=_SILENCE) as response:
            for line in response.iter_lines():
                name, _, value = line.partition(": ")
                if line:
                    fields[name] = value
                elif "data" in fields:
                    yield fields["event"], fields["data"]
                    fields = {}

    @contextmanager
    def _streaming(self, path: str, **request: Any) -> Iterator[httpx.Response]:
        """An answer that comes piece by piece."""
        try:
            with self._http.stream("GET", path, **request) as response:
                if response.is_error:
                    response.read()
                _raise_for(response)
                yield response
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.ReadTimeout) as error:
            raise UnavailableError(f"{self._address} broke off in the middle ({error}); try again") from error
        except httpx.TransportError as error:
            raise self._unavailable(error) from error

    def _create(self, path: str, body: Mapping[str, Any], key: str | None) -> tuple[Campaign, bool]:
        headers = {"Idempotency-Key": key or str(uuid4())}
        response = self._send("POST", path, json=body, headers=headers)
        return self._read(Campaign, response), response.status_code == HTTPStatus.CREATED

    def _items(
        self, kind: type[Answer], path: str, params: Mapping[str, str] | None = None, *, most: int | None = None
    ) -> tuple[Answer, ...]:
        """All pages of a list, or as many as have the first `most` items."""
        found: list[Answer] = []
        wanted = {**(params or {}), "limit": str(min(LARGEST_PAGE, most or LARGEST_PAGE))}
        while True:
            page = self._read(Page[kind], self._send("GET", path, params=wanted))  # type: ignore[valid-type]
            found.extend(page.items)
            if page.next is None or (most is not None and len(found) >= most):
                return tuple(found[:most])
            wanted["cursor"] = page.next

    def _ask(self, kind: type[Answer], method: str, path: str, *, body: Mapping[str, Any] | None = None) -> Answer:
        return self._read(kind, self._send(method, path, json=body))

    def _send(self, method: str, path: str | httpx.URL, **request: Any) -> httpx.Response:
        response = self._request(method, path, **request)
        _raise_for(response)
        return response

    def _request(self, method: str, path: str | httpx.URL, **request: Any) -> httpx.Response:
        try:
            return self._http.request(method, path, **request)
        except httpx.TransportError as error:
            raise self._unavailable(error) from error

    def _read(self, kind: type[Answer], response: httpx.Response) -> Answer:
        try:
            return TypeAdapter(kind).validate_json(response.content)
        except ValidationError as error:
            raise UnavailableError(f"{self._address} answers, but not as a Modescope of this version does") from error

    def _unavailable(self, error: httpx.TransportError) -> UnavailableError:
        return UnavailableError(f"no service answers at {self._address} ({error}); start it with `modescope up`")


def _raise_for(response: httpx.Response) -> None:
    """Raise the error the service meant."""
    if response.is_error:
        raise problems.error(_document(response), response.status_code)


def _document(response: httpx.Response) -> Mapping[str, Any]:
    if response.headers.get("content-type", "").startswith(problems.MEDIA_TYPE):
        document: dict[str, Any] = json.loads(response.content)
        return document
    return {"title": f"{response.url.host} answers, but not as Modescope does (status {response.status_code})"}
