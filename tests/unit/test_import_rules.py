"""The import rules of ARCHITECTURE.md, over every file: a folder that no rule knows is a failure too."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("orchestrator", "workers", "analysis", "migrations")

# What a file may import from our own packages: the longest prefix of its module's name decides.
MAY_IMPORT = {
    "orchestrator.contracts": ("orchestrator.contracts",),
    "orchestrator": ("orchestrator", "analysis"),
    "workers": (
        "workers",
        "analysis",
        "orchestrator.contracts",
        "orchestrator.store",
        "orchestrator.queue",
        "orchestrator.settings",
        "orchestrator.logs",
    ),
    "analysis": ("analysis",),
    "orchestrator.store.schema": ("orchestrator.contracts", "orchestrator.store", "migrations"),
    "migrations": ("migrations", "orchestrator.store"),
}
# Heavy or dangerous libraries, and the only places that may know them.
ONLY_IN = {
    "sqlalchemy": ("orchestrator.store", "migrations"),
    "alembic": ("orchestrator.store", "migrations"),
    "celery": ("orchestrator.queue", "workers.tasks"),
    "kombu": ("orchestrator.queue", "workers.tasks"),
    "fabric": ("workers.remote",),
    "fastapi": ("orchestrator.api", "orchestrator.web"),
    "pyarrow": ("orchestrator.archive", "orchestrator.api.columnar"),
}
STANDARD_LIBRARY_ONLY = ("orchestrator.contracts",)


def modules() -> list[str]:
    files = [path.relative_to(ROOT) for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return sorted(".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in files)


def source(module: str) -> str:
    path = ROOT / Path(*module.split("."))
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8")


def imports(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported, at any depth; `from a import b` counts as a.b, since b may be a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{name.name}" for name in node.names)


def within(module: str, prefixes: tuple[str, ...]) -> bool:
    return any(module == prefix or module.startswith(f"{prefix}.") for prefix in prefixes)


def layer(module: str) -> str | None:
    return max((name for name in MAY_IMPORT if within(module, (name,))), key=len, default=None)


def violations(module: str, text: str) -> list[str]:
    """What this module imports and must not."""
    tree = ast.parse(text)
    found = sorted(set(imports(tree)))
    own = [name for name in found if within(name, PACKAGES)]
    allowed = MAY_IMPORT[layer(module) or module]
    broken = [name for name in own if not within(name, allowed)]
    for library, places in ONLY_IN.items():
        broken += [name for name in found if within(name, (library,)) and not within(module, places)]
    if within(module, STANDARD_LIBRARY_ONLY):
        broken += [name for name in found if name not in own and name.partition(".")[0] not in sys.stdlib_module_names]
    return broken


@pytest.mark.parametrize("module", modules())
def test_a_module_imports_only_what_its_layer_may(module: str) -> None:
    assert layer(module) is not None, f"no rule for {module}: add its layer to MAY_IMPORT"
    assert violations(module, source(module)) == []


def test_every_package_of_the_checkout_has_rules() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    assert packages == set(PACKAGES)


def test_every_folder_with_python_files_is_a_package() -> None:
    """Otherwise the installed Modescope lacks it, and no rule would see it."""
    folders = {path.parent for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("orchestrator.campaigns.plan", "from workers import execute"),
        ("orchestrator.campaigns.plan", "def late():\n    import workers.execute"),
        ("orchestrator.contracts.jobs", "import numpy"),
        ("orchestrator.contracts.jobs", "from orchestrator import store"),
        ("workers.execute", "from orchestrator.design import study"),
        ("workers.execute", "from orchestrator import api"),
        ("workers.execute", "import celery"),
        ("analysis.mixture.em", "from orchestrator.contracts import runs"),
        ("orchestrator.api.app", "from sqlalchemy import select"),
    ],
)
def test_a_forbidden_import_is_found(module: str, text: str) -> None:
    """Negative control: the rules can fail."""
    assert violations(module, text) != []
