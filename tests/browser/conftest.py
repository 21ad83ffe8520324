"""A real browser on a real service. Chromium is Debian's; where it is missing, a failure in CI and a skip elsewhere."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, StorageState, expect, sync_playwright

from orchestrator.client import Client
from orchestrator.embedded.home import discard
from orchestrator.embedded.service import Service
from tests.browser import studies
from tests.browser.visitor import Visitor
from tests.waiting import wait_for

# A browser for a test: no display, no processor for pictures, and not a word to its maker.
OPTIONS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip

PATIENCE_MS = 30_000
"""For what a page does at once on a machine that has nothing else to do."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put these tests last: Playwright keeps an event loop running in this thread, which `asyncio.run` refuses."""
    here = Path(__file__).parent
    items.sort(key=lambda item: here in item.path.parents)


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """Everything that `modescope up --nodes 2` starts."""
    folder = Path(tempfile.mkdtemp(prefix="ms-", dir="/var/tmp"))
    with Service(folder, nodes=2) as running:
        yield running
    discard(folder)


@pytest.fixture(scope="session")
def browser(require_program: Callable[[str], Path]) -> Iterator[Browser]:
    program = require_program("chromium")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=OPTIONS)
        yield launched
        launched.close()


Enter = Callable[..., Visitor]


@pytest.fixture
def enter(service: Service, browser: Browser, signed_in: StorageState) -> Iterator[Enter]:
    """`enter(width=400, scheme="dark")`: somebody who is signed in; at the end nobody may have seen an error."""
    with ExitStack() as stack:
        yield lambda **look: stack.enter_context(visiting(service, browser, signed_in, **look))


@pytest.fixture
def strange(service: Service, browser: Browser) -> Iterator[Enter]:
    """The same for somebody who is not signed in."""
    with ExitStack() as stack:
        yield lambda **look: stack.enter_context(visiting(service, browser, None, **look))


@pytest.fixture(scope="session")
def signed_in(service: Service, browser: Browser) -> StorageState:
    """The cookie of somebody who has followed the link that `modescope up` prints."""
    assert service.sign_in_link is not None
    with visiting(service, browser, None) as visitor:
        visitor.page.goto(service.sign_in_link)
        visitor.page.get_by_role("button", name="Sign out").wait_for()
        return visitor.page.context.storage_state()


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A campaign that is complete and judged, and its configuration that is flagged."""

    path: str
    configuration: str


@pytest.fixture(scope="session")
def measured(service: Service) -> Measured:
    with Client(service.address, service.token) as client:
        campaign = client.submit(studies.small())[0].id
        wait_for("verdicts", lambda: client.progress(campaign), lambda seen: seen.verdicts_final)
        flagged = next(one for one in client.configurations(campaign) if one.verdict == "multimodal")
    path = f"/campaigns/{campaign}"
    return Measured(path=path, configuration=f"{path}/configurations/{flagged.setting_id}/{flagged.mode}")


@contextmanager
def visiting(
    service: Service, browser: Browser, state: StorageState | None, *, width: int = 1280, scheme: str = "light"
) -> Iterator[Visitor]:
    context = browser.new_context(
        base_url=service.address,
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]  # one of its literals
        storage_state=state,
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE_MS)
    visitor = Visitor(context.new_page(), service.address)
    try:
        yield visitor
    except BaseException:
        visitor.picture("failed")
        raise
    finally:
        context.close()
    assert visitor.complaints == []
