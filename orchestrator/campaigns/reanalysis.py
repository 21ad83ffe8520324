"""A campaign analysed with other options than were submitted: a version of its own, exploratory, with its reason."""

from __future__ import annotations

import json
from collections.abc import Mapping

from orchestrator.contracts.analyses import AnalysisVersion
from orchestrator.contracts.errors import RequestError
from orchestrator.store.ports import Store

LONGEST_WHY = 1000


def change(store: Store, campaign_id: int, changes: Mapping[str, object], why: str) -> AnalysisVersion:
    """Make and show a version: the options of the one that is shown, with these changes.

    Raises RequestError for options that make no sense and without a reason, else as `ports.Versions.make`.
    """
    from orchestrator.design.sections import read_analysis

    shown = next(one for one in store.versions.of_campaign(campaign_id) if one.shown)
    if not why.strip() or len(why) > LONGEST_WHY:
        raise RequestError(
            f"why: say in up to {LONGEST_WHY} characters why the analysis is changed; it is kept with it"
        )
    if not changes:
        raise RequestError("say what is to change: at least one option of the analysis")
    try:
        options = read_analysis({**shown.options, **changes})
    except ValueError as error:
        raise RequestError(str(error)) from None
    return store.versions.make(campaign_id, options, why.strip())


def as_value(option: str, text: str) -> object:
    """What a person typed: a number, a word, or `normal,gamma` for a list."""
    if option == "families":
        return [name.strip() for name in text.split(",")]
    try:
        number = json.loads(text)
    except ValueError:
        return text
    return number if isinstance(number, int | float) else text
