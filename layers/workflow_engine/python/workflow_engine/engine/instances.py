"""Reads of instances: one, and the list by filters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from workflow_engine.engine.rules.cursors import TimeKey, time_cursor, time_key
from workflow_engine.engine.rules.guids import is_guid
from workflow_engine.engine.rules.instance_pages import InstanceFilter, KeyPage, Place, best_page, merge_walks
from workflow_engine.engine.rules.names import name_key
from workflow_engine.errors import NotFoundError
from workflow_engine.models.enums import InstanceStatus
from workflow_engine.models.instance import EventView, InstanceView
from workflow_engine.models.instances_api import InstanceKeyRow, InstancePage, InstanceViewRow, ListInstancesRequest, ScopeRow

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, Deadline, Query, WorkFlowDAL
    from workflow_engine.engine.ports import Clock

_LIST = "instances"
_START: Place = (datetime(9999, 12, 31, tzinfo=UTC), 2**63 - 1)
# Rows that are read at a time where an index serves only a part of the filters, and how many times: some 100 ms at most.
_WINDOW = 5_000
_MOST_ROUNDS = 4
# Walks that a page is merged from; what means more of them is walked as a whole.
_MOST_WALKS = 100
Walk = Callable[[int], "Query[InstanceKeyRow]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """One way to the rows: walks through an index, `take` rows each."""

    queries: "Sequence[Query[InstanceKeyRow]]"
    take: int
    # A range of references is not in the list's order: it is of use only when it was read to its end.
    is_all_or_nothing: bool = False


class InstanceReader:
    def __init__(self, dal: "WorkFlowDAL", clock: "Clock") -> None:
        self._dal = dal
        self._clock = clock

    def instance_view(self, load: "DbExecutionLoad", guid: str) -> InstanceView | None:
        row = self._dal.first(load, self._dal.instance_view.get_by_guid(guid)) if is_guid(guid) else None
        return view_of(row) if row else None

    def get_instance(self, guid: str, deadline: "Deadline") -> InstanceView:
        view = self._dal.run_reading(deadline, partial(self.instance_view, guid=guid))
        if view is None:
            raise NotFoundError("instance", "no instance has this guid")
        return view

    def list_instances(self, request: ListInstancesRequest, deadline: "Deadline") -> InstancePage:
        """List newest first by (created, id). What a page costs does not depend on how many instances there are."""
        return self._dal.run_reading(deadline, partial(self._list, request))

    def _list(self, request: ListInstancesRequest, load: "DbExecutionLoad") -> InstancePage:
        before = self._before(request)
        scope = self._scope(load, request)
        if scope is not None and not scope:
            return InstancePage(items=[], cursor=None)
        page = self._page(load, _filter(request, scope, before), scope, request.limit)
        ids = [row.instance_id for row in page.keys]
        rows = self._dal.read(load, self._dal.instance_view.list_by_ids(ids))[0] if ids else []
        end = page.goes_on_at
        return InstancePage(items=[view_of(row) for row in rows], cursor=time_cursor(_LIST, TimeKey(moment=end[0], row_id=end[1])) if end else None)

    def _before(self, request: ListInstancesRequest) -> Place:
        cursor = time_key(_LIST, request.cursor)
        place = (cursor.moment, cursor.row_id) if cursor else _START
        if request.older_than_seconds is None:
            return place
        return min(place, (self._clock.now() - timedelta(seconds=request.older_than_seconds), _START[1]))

    def _scope(self, load: "DbExecutionLoad", request: ListInstancesRequest) -> list[ScopeRow] | None:
        """Return the definitions and states that the filters mean; None when they leave out none."""
        filters = (request.env_code, request.def_name, request.state, request.status, request.external_ref, request.external_ref_prefix)
        if all(given is None for given in filters):
            return None
        def_key = name_key(request.def_name) if request.def_name else None
        view = self._dal.instance_view
        if request.state is None:
            return self._dal.read(load, view.list_definitions(request.env_code, def_key))[0]
        return self._dal.read(load, view.list_states(request.env_code, def_key, name_key(request.state)))[0]

    def _page(self, load: "DbExecutionLoad", wanted: InstanceFilter, scope: list[ScopeRow] | None, limit: int) -> KeyPage:
        """Go on reading where filters left too little of what was read, but not without end."""
        page = self._keys(load, wanted, scope, limit)
        for _ in range(_MOST_ROUNDS - 1):
            if page.goes_on_at is None or page.is_done(limit):
                break
            more = self._keys(load, replace(wanted, before=page.goes_on_at), scope, limit - len(page.keys))
            page = KeyPage(keys=[*page.keys, *more.keys], goes_on_at=more.goes_on_at)
        return page

    def _keys(self, load: "DbExecutionLoad", wanted: InstanceFilter, scope: list[ScopeRow] | None, limit: int) -> KeyPage:
        pages: list[KeyPage] = []
        for path in self._paths(wanted, scope, limit):
            walks = self._dal.read_all(load, path.queries)
            if path.is_all_or_nothing and any(len(walk) >= path.take for walk in walks):
                continue
            pages.append(merge_walks(walks, path.take, limit, wanted))
            if pages[-1].is_done(limit):
                break
        return best_page(pages, limit)

    def _paths(self, wanted: InstanceFilter, scope: list[ScopeRow] | None, limit: int) -> list[Path]:
        view = self._dal.instance_view
        if scope is None:
            return [_path([partial(view.list_keys_newest, wanted.before)], limit + 1)]
        definition_ids = sorted({row.definition_id for row in scope})
        if wanted.external_ref is not None:
            return [Path(queries=[view.list_keys_by_ref(definition_ids, wanted.external_ref)], take=_WINDOW + 1)]
        return [*self._prefix_path(definition_ids, wanted.prefix), *self._walks(scope, definition_ids, wanted, limit)]

    def _prefix_path(self, definition_ids: list[int], prefix: str | None) -> list[Path]:
        if prefix is None or len(definition_ids) > _MOST_WALKS:
            return []
        walks = [partial(self._dal.instance_view.list_keys_by_prefix, definition_id, prefix) for definition_id in definition_ids]
        return [_path(walks, _WINDOW // len(walks), is_all_or_nothing=True)]

    def _walks(self, scope: list[ScopeRow], definition_ids: list[int], wanted: InstanceFilter, limit: int) -> list[Path]:
        """Walk by state or by status; by both when both are asked for, because one of the two is often short."""
        view, has_state = self._dal.instance_view, wanted.state_ids is not None
        statuses = [wanted.status] if wanted.status else [] if has_state else list(InstanceStatus)
        by_state = [partial(view.list_keys_by_state, row.definition_id, row.state_id, wanted.before) for row in scope if row.state_id is not None]
        by_status = [partial(view.list_keys_by_status, definition_id, status, wanted.before) for definition_id in definition_ids for status in statuses]
        is_exact = wanted.prefix is None and not (by_state and by_status)
        ways = [walks for walks in (by_state, by_status) if 0 < len(walks) <= _MOST_WALKS]
        if not ways:
            return [_path([partial(view.list_keys_newest, wanted.before)], _WINDOW)]
        return [_path(walks, limit + 1 if is_exact else max(limit + 1, _WINDOW // len(walks))) for walks in ways]


def view_of(row: InstanceViewRow) -> InstanceView:
    """Show an instance as every answer does."""
    last_event = None if row.event_code is None or row.event_name is None else EventView(code=row.event_code, name=row.event_name)
    return InstanceView(
        instance_id=row.instance_id,
        instance_guid=row.instance_guid,
        env_code=row.env_code,
        external_ref=row.external_ref,
        definition=row.definition,
        def_version=row.def_version,
        policy_hash=row.policy_hash,
        current_state=row.current_state,
        status=InstanceStatus.of(row.flags).label,
        message=row.message,
        seq=row.seq,
        last_event=last_event,
        created=row.created,
        modified=row.modified,
        state_entered_at=row.state_entered_at,
        state_due_at=row.state_due_at,
    )


def _filter(request: ListInstancesRequest, scope: list[ScopeRow] | None, before: Place) -> InstanceFilter:
    return InstanceFilter(
        before=before,
        definition_ids=None if scope is None else frozenset(row.definition_id for row in scope),
        state_ids=None if scope is None or request.state is None else frozenset(row.state_id for row in scope if row.state_id is not None),
        status=request.instance_status,
        external_ref=request.external_ref,
        prefix=request.external_ref_prefix,
    )


def _path(walks: Sequence[Walk], take: int, *, is_all_or_nothing: bool = False) -> Path:
    return Path(queries=[walk(take) for walk in walks], take=take, is_all_or_nothing=is_all_or_nothing)
