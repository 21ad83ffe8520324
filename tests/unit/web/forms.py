"""Filling in the forms of a page, as a browser without scripts does."""

from __future__ import annotations

import re
from html import unescape

import httpx

HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')


def sent(browser: httpx.Client, page: str, action: str, **fields: object) -> httpx.Response:
    """The answer to the form of `page` that goes to `action`: its hidden fields, and these."""
    text = browser.get(page).text
    forms = re.findall(r"<form[^>]*>.*?</form>", text, re.DOTALL)
    form = next(form for form in forms if f'action="{action}"' in form)
    hidden = dict(HIDDEN.findall(form))
    return browser.post(action, data={name: unescape(value) for name, value in hidden.items()} | fields)
