"""ConsumerManager: who listens to what, who owns whom, who is alive (design sections 4, 6, 13)."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from workflow_engine.dal import DbExecutionLoad, Deadline, Statement, UnitIds, WorkFlowDAL
from workflow_engine.engine.consumer_deletion import ConsumerDeletionUnit
from workflow_engine.engine.endpoints import EndpointConnector
from workflow_engine.engine.ports import Clock, SigningKeys, Subscriptions
from workflow_engine.engine.rules.cursors import NameKey, name_cursor, name_key_of
from workflow_engine.engine.rules.liveness import alive_until
from workflow_engine.engine.rules.ownership import check_owner
from workflow_engine.engine.rules.registration import (
    ConsumerPlace,
    EndpointLimits,
    age_seconds,
    check_endpoint,
    consumer_view,
    endpoint_hash,
    principals_json,
    registration_of,
)
from workflow_engine.errors import ConflictError, InvalidRequestError, NotFoundError
from workflow_engine.models.consumer import (
    MAX_PRINCIPAL_BYTES,
    Beat,
    ConsumerDeletion,
    ConsumerKey,
    ConsumerPage,
    ConsumerRegistration,
    ConsumerRow,
    ConsumerView,
    HeartbeatRequest,
    HeartbeatResult,
    ListConsumersRequest,
    OwnerMove,
    PendingRow,
    RegisterConsumerRequest,
    Registration,
)
from workflow_engine.models.environment import EnvironmentRow
from workflow_engine.options import WorkFlowEngineOptions

MAX_PENDING_COUNTED = 1_000
_LIST_NAME = "consumers"
# An environment and a consumer.
_REGISTRATION_IDS = 2
_NOBODY = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerPorts:
    """What a registration needs from outside."""

    subscriptions: Subscriptions
    signing_keys: SigningKeys
    limits: EndpointLimits = field(default_factory=EndpointLimits)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Registered:
    row: ConsumerRow
    unended: Sequence[ConsumerRow]
    is_created: bool
    # An earlier call committed, but SNS failed it: its caller has not seen the key.
    is_unfinished: bool


class ConsumerManager:
    def __init__(self, dal: WorkFlowDAL, clock: Clock, options: WorkFlowEngineOptions, ports: ConsumerPorts) -> None:
        self._dal = dal
        self._clock = clock
        self._options = options
        self._keys = ports.signing_keys
        self._limits = ports.limits
        self._endpoints = EndpointConnector(dal, ports.subscriptions)

    def register_consumer(self, request: RegisterConsumerRequest, principal: str, deadline: Deadline) -> ConsumerRegistration:
        """Commit the registration, then bring SNS in step; if SNS fails, the same request again goes on from there."""
        _check_principal(principal)
        check_endpoint(request.endpoint, self._limits)
        # Whoever registers must get a key: better no registration than one whose key nobody was shown.
        self._keys.signing_key(_NOBODY)
        done = self._dal.run(deadline, partial(self._register, request, principal, self._dal.unit_ids()), reserve=_REGISTRATION_IDS)
        subscription = self._endpoints.connect(done.row, deadline)
        self._endpoints.end(done.unended, deadline)
        is_key_shown = done.is_created or done.is_unfinished or request.return_key
        return ConsumerRegistration(
            consumer_id=done.row.consumer_id,
            consumer=done.row.consumer,
            env_code=done.row.env_code,
            created=done.is_created,
            subscription=subscription,
            signing_key=self._keys.signing_key(done.row.consumer_id) if is_key_shown else None,
        )

    def beat_consumer(self, request: HeartbeatRequest, principal: str, deadline: Deadline) -> HeartbeatResult:
        """Move last_beat forward and tell what waits, in one round trip (v0.6 5.6)."""
        return self._dal.run(deadline, partial(self._beat, request, principal), reserve=0)

    def delete_consumer(self, key: ConsumerKey, principal: str, deadline: Deadline) -> ConsumerDeletion:
        """Delete it, then end its subscription; if SNS fails, the same request again ends it."""
        unit = ConsumerDeletionUnit(self._dal, self._clock, key, principal)
        rows = self._dal.run(deadline, unit.apply, reserve=0)
        self._endpoints.end(rows, deadline)
        return ConsumerDeletion(consumer_id=rows[0].consumer_id, consumer=key.consumer, env_code=key.env_code, deleted=True)

    def set_owner(self, move: OwnerMove, extra: Callable[[ConsumerRow], Sequence[Statement]], deadline: Deadline) -> ConsumerView:
        """Give the consumer to another principal; `extra` gets the row as it was and returns what is written with the change."""
        _check_principal(move.principal)
        return self._dal.run(deadline, partial(self._set_owner, move, extra))

    def list_consumers(self, request: ListConsumersRequest, deadline: Deadline) -> ConsumerPage:
        """List by environment and name, each with what waits for it."""
        after = name_key_of(_LIST_NAME, request.cursor) or NameKey(group_id=0, name="")
        return self._dal.run_reading(deadline, partial(self._list, request, after))

    def ensure_consumer_id(self, registration: Registration, seen: ConsumerRow | None) -> list[Statement]:
        """Return the statements that insert the consumer, or replace the registration of the one that is there; its ack rows are never touched."""
        now = self._clock.now()
        listen = self._dal.subscription.insert(registration)
        if seen is None:
            return [self._dal.consumer.insert(registration, now), listen]
        guard = self._dal.consumer.stop_unless(seen, seen.owner)
        return [self._dal.consumer.update_registration(registration, now), guard, self._dal.subscription.delete_by_consumer(seen.consumer_id), listen]

    def _register(self, request: RegisterConsumerRequest, principal: str, ids: UnitIds, load: DbExecutionLoad) -> _Registered:
        ids.rewind()
        fresh = ConsumerPlace(env_id=ids.next_id(), consumer_id=ids.next_id(), owner=principal)
        environments, rows, holders, unended = self._dal.read(
            load,
            self._dal.environment.get_by_code(request.env_code),
            self._dal.consumer.get_by_name(request.env_code, request.consumer),
            self._dal.consumer.get_by_endpoint(endpoint_hash(request.endpoint)),
            self._dal.consumer.list_unended(request.env_code, request.consumer),
        )
        seen = rows[0] if rows else None
        _check_may_register(seen, holders, principal)
        registration = registration_of(request, principal, _place(seen, environments, fresh))
        statements = self.ensure_consumer_id(registration, seen)
        if not environments:
            made = EnvironmentRow(env_id=registration.env_id, env_code=request.env_code, env_name=str(request.env_code))
            statements.insert(0, self._dal.environment.insert(made, self._clock.now()))
        written = self._dal.write(load, [*statements, self._dal.consumer.get_by_id(registration.consumer_id)])[-1][0]
        is_created = registration.consumer_id == fresh.consumer_id
        return _Registered(row=written, unended=unended, is_created=is_created, is_unfinished=_is_unfinished(seen))

    def _beat(self, request: HeartbeatRequest, principal: str, load: DbExecutionLoad) -> HeartbeatResult:
        now = self._clock.now()
        progress = request.progress.model_dump_json() if request.progress else None
        beat = Beat(env_code=request.env_code, consumer=request.consumer, principal=principal, progress=progress, now=now)
        # What waits is counted before the row is locked, to hold the lock no longer than needed.
        pending, _, rows = self._dal.write(
            load,
            [
                self._dal.consumer.get_pending_by_name(request.env_code, request.consumer, MAX_PENDING_COUNTED),
                self._dal.consumer.update_beat(beat),
                self._dal.consumer.get_by_name(request.env_code, request.consumer),
            ],
        )
        row = _found(rows, request)
        check_owner(row.owner, row.principals, principal)
        return HeartbeatResult(
            alive_until=alive_until(row.beat_seconds, row.is_always_live, row.last_beat, self._options.consumer_ttl_seconds),
            pending=pending[0].pending,
            oldest_pending_seconds=age_seconds(pending[0].oldest_created, now),
        )

    def _set_owner(self, move: OwnerMove, extra: Callable[[ConsumerRow], Sequence[Statement]], load: DbExecutionLoad) -> ConsumerView:
        consumers, now = self._dal.consumer, self._clock.now()
        before = _found(self._dal.read(load, consumers.get_by_name(move.env_code, move.consumer))[0], move)
        # The former owner loses it, also where it named itself; whom it named keeps acking until the new owner registers.
        named = principals_json((one for one in json.loads(before.principals) if one != before.owner), move.principal)
        changes = [consumers.update_owner(before, move.principal, named, now), consumers.stop_unless(before, move.principal), *extra(before)]
        if load.is_uncertain and before.owner == move.principal:
            # The attempt whose answer was lost has done it all.
            changes = []
        counted = consumers.get_pending_by_id(before.consumer_id, MAX_PENDING_COUNTED)
        results = self._dal.write(load, [*changes, consumers.get_by_id(before.consumer_id), counted])
        return consumer_view(results[-2][0], results[-1][0], now, self._options.consumer_ttl_seconds)

    def _list(self, request: ListConsumersRequest, after: NameKey, load: DbExecutionLoad) -> ConsumerPage:
        consumers, take = self._dal.consumer, request.limit + 1
        if request.env_code is None:
            rows = self._dal.read(load, consumers.list_paged(after.group_id, after.name, take))[0]
        else:
            rows = self._dal.read(load, consumers.list_by_env_paged(request.env_code, after.name, take))[0]
        shown = rows[: request.limit]
        pending: list[list[PendingRow]] = self._dal.read_all(load, [consumers.get_pending_by_id(row.consumer_id, MAX_PENDING_COUNTED) for row in shown])
        now = self._clock.now()
        items = [consumer_view(row, counted[0], now, self._options.consumer_ttl_seconds) for row, counted in zip(shown, pending, strict=True)]
        cursor = name_cursor(_LIST_NAME, NameKey(group_id=shown[-1].env_id, name=shown[-1].consumer)) if len(rows) > len(shown) else None
        return ConsumerPage(items=items, cursor=cursor)


def _check_principal(principal: str) -> None:
    if len(principal.encode()) > MAX_PRINCIPAL_BYTES:
        raise InvalidRequestError(f"a principal must not be longer than {MAX_PRINCIPAL_BYTES} bytes")


def _check_may_register(seen: ConsumerRow | None, holders: Sequence[ConsumerRow], principal: str) -> None:
    if seen is not None:
        check_owner(seen.owner, seen.principals, principal)
    if any(seen is None or holder.consumer_id != seen.consumer_id for holder in holders):
        raise ConflictError("ENDPOINT_IN_USE", "another consumer uses this endpoint")


def _place(seen: ConsumerRow | None, environments: Sequence[EnvironmentRow], fresh: ConsumerPlace) -> ConsumerPlace:
    if seen is not None:
        return ConsumerPlace(env_id=seen.env_id, consumer_id=seen.consumer_id, owner=seen.owner)
    return replace(fresh, env_id=environments[0].env_id) if environments else fresh


def _is_unfinished(seen: ConsumerRow | None) -> bool:
    return seen is not None and seen.endpoint_hash is not None and seen.subscription_arn is None


def _found(rows: Sequence[ConsumerRow], key: HeartbeatRequest | OwnerMove) -> ConsumerRow:
    if not rows:
        raise NotFoundError("consumer", f"no consumer {key.consumer} in environment {key.env_code}")
    return rows[0]
