"""What a registration means: which rows it becomes, which endpoints it may name, what others see of it."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from workflow_engine.engine.rules.liveness import alive_until, is_live
from workflow_engine.engine.rules.names import name_key
from workflow_engine.errors import ErrorItem, InvalidRequestError
from workflow_engine.models.consumer import ConsumerProgress, ConsumerRow, ConsumerView, PendingRow, RegisterConsumerRequest, Registration
from workflow_engine.models.endpoint import ConsumerEndpoint, account_of, host_of
from workflow_engine.models.enums import GaveUp
from workflow_engine.models.flags import LifeCycleKindFlag

ANY_DEFINITION = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointLimits:
    """Accounts of queues and functions, hosts of URLs (`*.example.com` for all below); empty: any."""

    accounts: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerPlace:
    """Where a registration is stored: the present consumer's ids and owner, or fresh ids and the caller."""

    env_id: int
    consumer_id: int
    owner: str


def registration_of(request: RegisterConsumerRequest, caller: str, place: ConsumerPlace) -> Registration:
    """The owner stays who it is; a caller that only was named with the consumer stays named, or it would lock itself out."""
    endpoint = request.endpoint
    return Registration(
        consumer_id=place.consumer_id,
        env_id=place.env_id,
        consumer=request.consumer,
        owner=place.owner,
        principals=principals_json((*request.principals, caller), place.owner),
        kinds=sum({LifeCycleKindFlag[kind.upper()] for kind in request.kinds}),
        definitions=_json_list(request.definitions),
        definition_keys=definition_keys(request.definitions),
        routes=None if request.routes is None else _json_list(request.routes),
        beat_seconds=request.beat_seconds,
        is_always_live=request.is_always_live,
        on_exhausted=GaveUp[request.on_exhausted.upper()],
        endpoint_protocol=endpoint.protocol if endpoint else None,
        endpoint_address=endpoint.address if endpoint else None,
        endpoint_hash=endpoint_hash(endpoint),
    )


def definition_keys(names: Iterable[str]) -> tuple[str, ...]:
    """The keys a trigger looks for, each once; "*" makes the others superfluous, and a consumer must be found once."""
    keys = tuple(dict.fromkeys(name_key(name) for name in names))
    return (ANY_DEFINITION,) if ANY_DEFINITION in keys else keys


def principals_json(principals: Iterable[str], owner: str) -> str:
    """The list as it is stored, each once and without the owner; the heartbeat's SQL looks for entries in exactly this form."""
    return _json_list(dict.fromkeys(principal for principal in principals if principal != owner))


def endpoint_hash(endpoint: ConsumerEndpoint | None) -> str | None:
    return hashlib.sha256(f"{endpoint.protocol}\n{endpoint.address}".encode()).hexdigest() if endpoint else None


def check_endpoint(endpoint: ConsumerEndpoint | None, limits: EndpointLimits) -> None:
    """Refuse an endpoint outside the accounts and hosts that the stack allows."""
    if endpoint is None or _is_allowed(endpoint, limits):
        return
    message = "the endpoint's host is not allowed here" if endpoint.protocol == "https" else "the endpoint's account is not allowed here"
    raise InvalidRequestError(message, (ErrorItem(pointer="/endpoint/address", code="ENDPOINT_NOT_ALLOWED", message=message),))


def age_seconds(since: datetime | None, now: datetime) -> int | None:
    """Whole seconds, never below zero; None stays None."""
    return None if since is None else max(0, int((now - since).total_seconds()))


def consumer_view(row: ConsumerRow, pending: PendingRow, now: datetime, ttl_seconds: int) -> ConsumerView:
    return ConsumerView(
        consumer_id=row.consumer_id,
        consumer=row.consumer,
        env_code=row.env_code,
        definitions=json.loads(row.definitions),
        kinds=[kind.name.lower() for kind in LifeCycleKindFlag if kind.name and row.kinds & kind],
        routes=None if row.routes is None else json.loads(row.routes),
        beat_seconds=row.beat_seconds,
        always_live=bool(row.is_always_live),
        on_exhausted=GaveUp(row.on_exhausted).label,
        endpoint=_endpoint_view(row),
        owner=row.owner,
        principals=json.loads(row.principals),
        alive=is_live(row.beat_seconds, row.is_always_live, row.last_beat, now, ttl_seconds),
        last_beat=row.last_beat,
        alive_until=alive_until(row.beat_seconds, row.is_always_live, row.last_beat, ttl_seconds),
        pending=pending.pending,
        oldest_pending_seconds=age_seconds(pending.oldest_created, now),
        progress=None if row.progress is None else ConsumerProgress.model_validate_json(row.progress),
    )


def _endpoint_view(row: ConsumerRow) -> ConsumerEndpoint | None:
    """As stored; it was checked when it came in."""
    if row.endpoint_protocol is None:
        return None
    return ConsumerEndpoint.model_validate({"protocol": row.endpoint_protocol, "address": row.endpoint_address})


def _is_allowed(endpoint: ConsumerEndpoint, limits: EndpointLimits) -> bool:
    if endpoint.protocol == "https":
        host = host_of(endpoint.address) or ""
        return not limits.hosts or any(_is_host(host, allowed.lower()) for allowed in limits.hosts)
    return not limits.accounts or account_of(endpoint.protocol, endpoint.address) in limits.accounts


def _is_host(host: str, allowed: str) -> bool:
    return host.endswith(allowed[1:]) if allowed.startswith("*.") else host == allowed


def _json_list(texts: Iterable[str]) -> str:
    return json.dumps(list(texts), ensure_ascii=False, separators=(",", ":"))
