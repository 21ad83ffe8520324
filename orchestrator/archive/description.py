"""The page that describes an archive, `archive.json`: what it is, and what each of its files must hold."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.contracts.archives import Part
from orchestrator.contracts.errors import ConflictError, NotFoundError

NAME = "archive.json"
FORMAT = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Description:
    """An archive, told apart from any other by the SHA-256 of this page."""

    modescope: str
    """The version that wrote it."""
    schema: str
    """Of the database it came from."""
    ledger: str
    """UUID of the database it came from; only there it can go back."""
    campaign_id: int
    campaign: Mapping[str, Any]
    """Its row of the table `campaigns`: the study, its digest, when it ran, how it ended."""
    moved: Mapping[str, Part]
    """Table -> its rows, which are no longer in the ledger."""
    referred: Mapping[str, Part]
    """Table -> rows that the moved ones refer to; also still in the ledger."""

    def text(self) -> str:
        """As it stands in the folder."""
        page = {
            "what": "an archived campaign of Modescope: a Parquet file per table, each column as named here",
            "format": FORMAT,
            "modescope": self.modescope,
            "schema": self.schema,
            "ledger": self.ledger,
            "campaign_id": self.campaign_id,
            "campaign": self.campaign,
            "moved": {name: part.as_dict() for name, part in self.moved.items()},
            "referred": {name: part.as_dict() for name, part in self.referred.items()},
        }
        return json.dumps(page, indent=1) + "\n"


def write(folder: Path, description: Description) -> None:
    """Safe on the disk on return."""
    with (folder / NAME).open("w", encoding="utf-8") as file:
        file.write(description.text())
        file.flush()
        os.fsync(file.fileno())


def read(folder: Path) -> Description:
    """Raises NotFoundError where there is none, ConflictError for one that cannot be understood."""
    path = folder / NAME
    try:
        page = json.loads(path.read_text(encoding="utf-8"))
        if page["format"] != FORMAT:
            raise ConflictError(f"{path}: format {page['format']}, this version of Modescope knows {FORMAT}")
        return Description(
            modescope=str(page["modescope"]),
            schema=str(page["schema"]),
            ledger=str(page["ledger"]),
            campaign_id=int(page["campaign_id"]),
            campaign=page["campaign"],
            moved={name: Part.from_dict(name, part) for name, part in page["moved"].items()},
            referred={name: Part.from_dict(name, part) for name, part in page["referred"].items()},
        )
    except FileNotFoundError:
        raise NotFoundError(f"{folder} is not an archive: it has no {NAME}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ConflictError(f"{path} is damaged ({type(error).__name__}: {error})") from error
