"""Writing a study: checked while it is written, and submitted as a campaign."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response, UploadFile

from orchestrator.api.access import CampaignId, Ledger, may
from orchestrator.api.models import StudyText
from orchestrator.api.routers import campaigns as api
from orchestrator.contracts.access import Scope
from orchestrator.contracts.errors import MissingPartError, StudyError
from orchestrator.design import document
from orchestrator.design.problems import Problem, check
from orchestrator.design.study import preset_names, preset_text
from orchestrator.web.content.study import Draft, examine
from orchestrator.web.forms import own_form, see
from orchestrator.web.rendering import page

router = APIRouter()
Text = Annotated[str, Form(max_length=document.MAX_CHARACTERS)]
Key = Annotated[str, Form(max_length=100)]
File = Annotated[UploadFile | None, Form()]


@router.get("/studies/new", dependencies=[may(Scope.SUBMIT)])
def new(
    request: Request,
    store: Ledger,
    preset: Annotated[str | None, Query(max_length=100)] = None,
    campaign: Annotated[int | None, Query(ge=1, lt=2**31)] = None,
) -> Response:
    """An empty text, a preset, or the study of a campaign."""
    text = ""
    if preset is not None:
        text = preset_text(preset)
    elif campaign is not None:
        text = document.write(store.campaigns.study(campaign).study)
    return _form(request, examine(text, store.nodes.all()))


@router.post("/studies/check", dependencies=[may(Scope.SUBMIT), own_form()])
def checked(request: Request, store: Ledger, key: Key, study: Text = "", file: File = None) -> Response:
    """The same page with what is wrong with the text, or what it amounts to; nothing is stored."""
    return _form(request, examine(_chosen(study, file), store.nodes.all(), key=key))


@router.post("/studies", dependencies=[may(Scope.SUBMIT), own_form()])
def submit(request: Request, store: Ledger, key: Key, study: Text = "", file: File = None) -> Response:
    """Make a campaign of it; what is wrong is told beside the text."""
    text = _chosen(study, file)
    wanted, problems = check(text)
    if wanted is None:
        return _form(request, Draft(text=text, key=key, problems=problems), status=HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        # With the study in the key, a page that is sent twice is one campaign, and an edited one is another.
        made = api.submit(StudyText(study=text), store, Response(), f"{key} {wanted.digest[:16]}")
    except (StudyError, MissingPartError) as error:
        refused = Problem(line=None, message=str(error))
        return _form(request, Draft(text=text, key=key, problems=(refused,)), status=HTTPStatus.UNPROCESSABLE_ENTITY)
    return see(f"/campaigns/{made.id}")


@router.get("/campaigns/{campaign_id}/study", dependencies=[may(Scope.READ)])
def submitted(request: Request, campaign_id: CampaignId, store: Ledger) -> Response:
    """The study of a campaign, every default written out."""
    campaign = store.campaigns.get(campaign_id)
    text = document.write(store.campaigns.study(campaign_id).study)
    return page(request, "study.html", campaign=campaign, text=text)


def _form(request: Request, draft: Draft, *, status: int = HTTPStatus.OK) -> Response:
    return page(request, "new_study.html", draft=draft, presets=preset_names(), status=status)


def _chosen(study: str, file: UploadFile | None) -> str:
    """An uploaded file goes before the text. Raises StudyError."""
    if file is None or not file.filename:
        return study.replace("\r\n", "\n")
    content = file.file.read(4 * document.MAX_CHARACTERS + 1)
    try:
        return content.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise StudyError(f"{file.filename[:100]}: not a text file in UTF-8") from None
