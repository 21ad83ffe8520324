"""Somebody at a browser, who notes every error that it shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, Locator, Page, Request, Response

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
SERIOUS = ("serious", "critical")


class Visitor:
    """A page, and what went wrong on it."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.complaints: list[str] = []
        self._address = address
        self.expected_status = 0
        """An answer that is an error and is meant to be."""
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(f"exception: {error}"))
        page.on("request", self._asked)
        page.on("response", self._answered)

    def go(self, path: str) -> None:
        """Open a page, and wait until its scripts have what they asked for."""
        self.page.goto(path)
        self.settle()

    def settle(self) -> None:
        """Event streams stay open for ever, so the network is never idle: what has to be there says so itself."""
        self.page.wait_for_load_state("load")
        for waiting in self.page.locator("#waiting").all():
            waiting.wait_for(state="hidden")

    def picture(self, name: str) -> None:
        """Into the build folder, as the visitor sees it."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)

    def barriers(self) -> list[str]:
        """What axe-core calls serious or critical, with the first place of each."""
        found: list[dict[str, Any]] = Axe().run(self.page).response["violations"]
        return [
            f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]} {one['nodes'][0].get('failureSummary', '')}"
            for one in found
            if one["impact"] in SERIOUS
        ]

    def overflow(self) -> list[str]:
        """What sticks out at the right, so that the whole page would have to be moved to read it."""
        return self.page.evaluate("""() => {
            const width = document.documentElement.clientWidth;
            if (document.documentElement.scrollWidth <= width) return [];
            return [...document.querySelectorAll("main *")].filter(one => one.getBoundingClientRect().right > width + 1)
                .slice(0, 5).map(one => one.outerHTML.slice(0, 120));
        }""")

    def tab_to(self, target: Locator, *, most: int = 60) -> None:
        """Press Tab until it has the focus, as somebody without a mouse does."""
        for _ in range(most):
            self.page.keyboard.press("Tab")
            if target.evaluate("one => one === document.activeElement"):
                return
        raise AssertionError(f"{target} was not reached by pressing Tab {most} times")

    def focus_shows(self) -> bool:
        """Can one see where one is?"""
        return self.page.evaluate("""() => {
            const style = getComputedStyle(document.activeElement);
            return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 || style.boxShadow !== "none";
        }""")

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error" and f"status of {self.expected_status}" not in message.text:
            self.complaints.append(f"console: {message.text}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self._address, "data:", "blob:")):
            self.complaints.append(f"asked another host: {request.url}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400 and response.status != self.expected_status:
            self.complaints.append(f"{response.status} {response.url}")
