"""Facts of nodes as people read them: by their path, as text, with units."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

PASSING = frozenset({"clock", "load", "temperatures_c", "top_processes", "target.free_kb", "device.wear"})
"""Facts that differ from one minute to the next, and say nothing about what a node is."""
ABSENT = "absent"
_COMMAND_LINE = "kernel.command_line"
_NAMES_DISKS = re.compile(r"(BOOT_IMAGE|root|resume|initrd|cryptdevice)=\S* ?")
"""What names this one machine's disks says nothing about its performance."""
_UNITS = {"_bytes": (1000.0, ("B", "kB", "MB", "GB", "TB", "PB")), "_kb": (1024.0, ("KiB", "MiB", "GiB", "TiB"))}
"""Ending of a fact's name -> its unit: disks are sold by powers of 1000, the kernel's kB are 1,024 bytes."""


def flat(facts: Mapping[str, object]) -> dict[str, str]:
    """Facts by their path, as text: `processor.model`; lasting ones only, in order of their paths."""
    found = dict(sorted(_leaves(facts, "")))
    if _COMMAND_LINE in found:
        found[_COMMAND_LINE] = _NAMES_DISKS.sub("", found[_COMMAND_LINE])
    return found


def told(name: str, value: str) -> str:
    """A fact's text with its unit: `23.5 GiB (24,684,096 kB)`; as it is where its name has no unit, or it no number."""
    ending = next((one for one in _UNITS if name.endswith(one)), None)
    if ending is None or not value.isdecimal():
        return value
    return f"{_in_larger(int(value), ending)} ({int(value):,} {'bytes' if ending == '_bytes' else 'kB'})"


def in_short(name: str, value: str) -> str:
    """The same without the exact number: `23.5 GiB`."""
    return told(name, value).partition(" (")[0] if any(name.endswith(one) for one in _UNITS) else value


def _in_larger(number: int, ending: str) -> str:
    value, (step, names) = float(number), _UNITS[ending]
    place = 0
    while value >= step and place + 1 < len(names):
        value, place = value / step, place + 1
    return f"{value:.3g} {names[place]}"


def _leaves(value: object, path: str) -> Iterator[tuple[str, str]]:
    if path in PASSING:
        return
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}" if path else str(name))
    else:
        yield path, _text(value)


def _text(value: object) -> str:
    match value:
        case None | {}:
            return ABSENT
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            return ", ".join(_text(item) for item in value) or "none"
    return str(value)
