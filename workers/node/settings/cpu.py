"""Settings of the CPUs: SMT, turbo, governor, frequency, C-states."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.contracts.preparation import AS_IS, Frequency, Switch
from workers.node.facts import files
from workers.node.facts.frequency import ENERGY_PREFERENCE, Scaling, listed
from workers.node.settings.steps import Facts, NoOp, Planned, Refusal, Wanted, Write, already, as_is

NO_CPUFREQ = "this machine has no cpufreq (most virtual machines have none)"
WITHOUT_SMT = {
    "notsupported": "this machine has no SMT",
    "notimplemented": "this machine has no SMT",
    "forceoff": "it was turned off when the machine was booted",
}
NO_SLEEP = "n/a"
"""What pm_qos_resume_latency_us holds when a CPU may not sleep at all; its `0` means: no limit."""


def smt(facts: Facts, wanted: Wanted) -> Iterator[Planned]:
    """One switch, in /sys/devices/system/cpu/smt/control."""
    switch = wanted.preparation.smt
    if switch is Switch.AS_IS:
        yield as_is("smt")
    elif facts.smt == switch:
        yield already("smt", switch)
    elif facts.smt in WITHOUT_SMT and switch is Switch.OFF:
        yield NoOp(setting="smt", reason=WITHOUT_SMT[facts.smt])
    elif facts.smt in ("on", "off"):
        yield Write(setting="smt", path=facts.smt_path, value=switch)
    else:
        yield Refusal(setting="smt", reason=f"SMT cannot be turned {switch}: it is {facts.smt}", remedy="smt: as_is")


def turbo(facts: Facts, wanted: Wanted) -> Iterator[Planned]:
    """The switch of the driver, or the switches of its CPUs."""
    switch = wanted.preparation.turbo
    if switch is Switch.AS_IS:
        yield as_is("turbo")
        return
    known = [one for one in facts.turbo if one.on is not None]
    if not known:
        reason = f"turbo cannot be turned {switch}: this machine has no switch for it"
        yield Refusal(setting="turbo", reason=reason, remedy="turbo: as_is")
    for one in known:
        if one.on == (switch is Switch.ON):
            yield already("turbo", switch)
        else:
            yield Write(setting="turbo", path=one.path, value=one.text(switch is Switch.ON))


def governor(facts: Facts, wanted: Wanted) -> Iterator[Planned]:
    """One a CPU."""
    name = wanted.preparation.governor
    if name == AS_IS:
        yield as_is("governor")
        return
    for found in _listed("governor", facts, wanted):
        if not isinstance(found, Scaling):
            yield found
        elif found.governor == name:
            yield already("governor", name)
        elif name in found.governors:
            # amd-pstate-epp: the governor performance sets the preference, and no other governor sets it back.
            moves = () if found.energy_preference is None else (found.folder / ENERGY_PREFERENCE,)
            yield Write(setting="governor", path=found.folder / "scaling_governor", value=name, moves=moves)
        else:
            reason = f"CPU {found.cpu} has no governor {name}; it offers {', '.join(found.governors) or 'none'}"
            yield Refusal(setting="governor", reason=reason, remedy="governor: as_is")


def frequency(facts: Facts, wanted: Wanted) -> Iterator[Planned]:
    """Leave each governor one frequency to choose from."""
    if wanted.preparation.frequency is Frequency.AS_IS:
        yield as_is("frequency")
        return
    for found in _listed("frequency", facts, wanted):
        if isinstance(found, Scaling):
            yield from _pin(found, wanted.frequency_khz)
        else:
            yield found


def wake_limit(facts: Facts, wanted: Wanted) -> Iterator[Planned]:
    """pm_qos: a CPU enters no C-state that takes longer to leave."""
    limit_us = wanted.preparation.max_wake_us
    if limit_us is None:
        yield as_is("max_wake_us")
        return
    if not facts.wake_limits:
        reason = "C-states cannot be limited: this machine has no pm_qos_resume_latency_us"
        yield Refusal(setting="max_wake_us", reason=reason, remedy="max_wake_us: null")
    text = NO_SLEEP if limit_us == 0 else str(limit_us)
    for limit in facts.wake_limits:
        if limit.text == text:
            yield already("max_wake_us", text)
        else:
            yield Write(setting="max_wake_us", path=limit.path, value=text)


def _listed(setting: str, facts: Facts, wanted: Wanted) -> Iterator[Scaling | Refusal]:
    """The CPUs that the study means; what stands in the way where there are none."""
    remedy = f"{setting}: as_is"
    if not facts.scalings:
        what = "CPU frequency" if setting == "frequency" else setting
        yield Refusal(setting=setting, reason=f"the {what} cannot be set: {NO_CPUFREQ}", remedy=remedy)
        return
    cpus = wanted.preparation.cpus
    meant = set() if cpus == "all" else set(files.numbers(cpus))
    for missing in sorted(meant - {scaling.cpu for scaling in facts.scalings}):
        yield Refusal(setting=setting, reason=f"there is no CPU {missing} with cpufreq here", remedy="cpus: all")
    yield from listed(facts.scalings, cpus)


def _pin(scaling: Scaling, level_khz: int | None) -> Iterator[Planned]:
    if level_khz is None:
        for name in ("scaling_max_freq", "scaling_min_freq"):
            yield Write(setting="frequency", path=scaling.folder / name, value="frequency_khz")
        return
    if not scaling.offers(level_khz):
        reason = f"CPU {scaling.cpu} of this node does not offer {level_khz} kHz"
        yield Refusal(setting="frequency", reason=reason, remedy="frequency: as_is")
        return
    bounds = [("scaling_max_freq", scaling.maximum_khz), ("scaling_min_freq", scaling.minimum_khz)]
    if scaling.minimum_khz is not None and level_khz < scaling.minimum_khz:
        bounds.reverse()  # the kernel refuses a maximum below the minimum
    for name, now_khz in bounds:
        if now_khz == level_khz:
            yield already("frequency", f"{level_khz} kHz")
        else:
            yield Write(setting="frequency", path=scaling.folder / name, value=str(level_khz))
