"""What activating a version changes."""

from collections.abc import Sequence
from dataclasses import dataclass

from workflow_engine.errors import NotFoundError
from workflow_engine.models.def_version import DefinitionRow, DefinitionVersionView, DefVersionRow
from workflow_engine.models.new_blueprint import PolicyLinkRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """`view` is the answer; `policy_id` and `stamp` make the version's policy the definition's newest (none: no policy)."""

    definition_id: int
    def_name: str
    previous_version: int | None
    policy_id: int | None
    stamp: int
    view: DefinitionVersionView


def decide_activation(definition: DefinitionRow | None, versions: Sequence[DefVersionRow], links: Sequence[PolicyLinkRow], version: int) -> Activation:
    """`links` are newest first, so the first one of the version is its current policy."""
    row = next((row for row in versions if row.version == version), None)
    if definition is None or row is None:
        raise NotFoundError("definition", f"there is no version {version} of this definition")
    current = next((link for link in links if link.def_version_id == row.def_version_id), None)
    return Activation(
        definition_id=definition.definition_id,
        def_name=definition.def_name,
        previous_version=next((other.version for other in versions if other.def_version_id == definition.active_version_id), None),
        policy_id=current.policy_id if current else None,
        stamp=links[0].stamp + 1 if links else 1,
        view=DefinitionVersionView(
            version=row.version,
            def_version_id=row.def_version_id,
            hash=row.content_hash,
            active=True,
            policy_hash=current.content_hash if current else None,
            created=row.created,
        ),
    )
