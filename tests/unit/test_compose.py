"""docker-compose.yml cannot be run here; everything it names must exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from orchestrator import rights
from orchestrator.cli import main

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "modescope"}


def test_every_part_is_there() -> None:
    assert {"postgres", "redis", "api", "controller", "agent", "analysis-worker"} <= set(SERVICES)


@pytest.mark.parametrize("service", OURS)
def test_a_service_runs_a_command_that_exists(service: str) -> None:
    program, *words = OURS[service]["command"]
    assert program == "modescope"
    command, options = find(main.root, words)
    command.make_context("modescope", options)  # parses them; raises a usage error for what the command does not know


def find(group: click.Group, words: list[str]) -> tuple[click.Command, list[str]]:
    """The command these words name, and its options."""
    command = group.get_command(click.Context(group), words[0])
    assert command is not None, words[0]
    return find(command, words[1:]) if isinstance(command, click.Group) else (command, words[1:])


@pytest.mark.parametrize("service", OURS)
def test_a_service_sets_variables_that_modescope_reads(service: str) -> None:
    code = "\n".join(
        path.read_text() for package in ("orchestrator", "workers") for path in (ROOT / package).rglob("*.py")
    )
    assert [name for name in OURS[service].get("environment", {}) if f'"{name}"' not in code] == []


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_waits_for_and_mounts_what_is_there(service: str) -> None:
    assert set(SERVICES[service].get("depends_on", {})) <= set(SERVICES)
    mounted = [volume.partition(":")[0] for volume in SERVICES[service].get("volumes", [])]
    volumes = {name for name in mounted if not name.startswith("./")}
    assert volumes <= set(COMPOSE["volumes"])
    files = [name for name in mounted if name not in volumes]
    assert [name for name in files if not name.startswith("./secrets/") and not (ROOT / name).exists()] == []


def test_services_read_secrets_that_modescope_rights_writes(tmp_path: Path) -> None:
    written = rights.write(tmp_path, ["compose-1"], database_url="postgresql://postgres/m", redis_url="redis://redis/0")
    mounted = [volume.partition(":")[0] for service in SERVICES.values() for volume in service.get("volumes", [])]
    read = [name for service in SERVICES.values() for name in service.get("env_file", [])]
    secrets = {Path(name).name for name in (*mounted, *read) if "secrets/" in name}
    assert secrets == {file.name for file in written}


def test_the_image_is_built_from_files_that_exist() -> None:
    build = COMPOSE["x-modescope"]["build"]
    dockerfile = (ROOT / build["dockerfile"]).read_text()
    copied = [word for line in re.findall(r"^COPY (.*)$", dockerfile, re.MULTILINE) for word in line.split()[:-1]]
    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
