"""Import: request and answer."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue, model_validator

from workflow_engine.models.base import WorkFlowModel
from workflow_engine.models.trigger import EnvCode

ImportOutcome = Literal["created", "unchanged"]


class ImportRequest(WorkFlowModel):
    """A definition, a policy, or both; documents keep their own rules (unknown keys are warnings, not errors)."""

    env_code: EnvCode
    env_name: Annotated[str, Field(min_length=1, max_length=120, pattern=r"\S", description="name of the environment; default: its code")] | None = None
    definition: Annotated[JsonValue, Field(description="states, events and transitions; flat, or with a `definition` object for the name")] = None
    policy: Annotated[JsonValue, Field(description="params, rules and timeouts")] = None
    dry_run: Annotated[bool, Field(strict=True, description="check and answer, but write nothing")] = False

    @model_validator(mode="after")
    def check_content(self) -> "ImportRequest":
        if self.definition is None and self.policy is None:
            raise ValueError("give a definition, a policy, or both")
        return self


class ImportedDefinition(WorkFlowModel):
    """Ids are null in a dry run of something new."""

    definition_id: int | None
    def_version_id: int | None
    name: str
    version: int
    hash: str
    result: ImportOutcome


class ImportedPolicy(WorkFlowModel):
    """The policy that was imported, or that a new version took over from the one before."""

    policy_id: int | None
    name: str
    hash: str
    result: ImportOutcome


class ImportFinding(WorkFlowModel):
    code: str
    pointer: str
    message: str


class ImportResult(WorkFlowModel):
    dry_run: bool
    definition: ImportedDefinition | None
    policy: ImportedPolicy | None
    warnings: list[ImportFinding]
