"""RuntimeEngine: what applications say of their own work (guidelines 4.9); never part of workflow correctness."""

import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from workflow_engine.engine.rules.guids import is_guid
from workflow_engine.engine.rules.names import name_key
from workflow_engine.errors import ErrorItem, InvalidRequestError, NotFoundError, TooLargeError
from workflow_engine.models.runtime import NewRuntime, RuntimeKey, RuntimeResult, RuntimeRow, RuntimeStatusRequest, UpsertRuntimeRequest

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, Deadline, Statement, UnitIds, WorkFlowDAL
    from workflow_engine.engine.ports import Clock

# The timeline shows activities with their data, many of them in one answer.
MAX_DATA_BYTES = 16 * 1024
_NO_STEP = 0


class RuntimeEngine:
    """Its units lock no instance: a trigger never waits for a report. A frozen row keeps what it says."""

    def __init__(self, dal: "WorkFlowDAL", clock: "Clock") -> None:
        self._dal = dal
        self._clock = clock

    def upsert(self, request: UpsertRuntimeRequest, deadline: "Deadline") -> RuntimeResult:
        """Create the activity's row or bring it up to date; its state is the one its step led to, or the current one."""
        if not is_guid(request.instance_guid):
            raise _unknown_instance()
        data = None if request.data is None else json.dumps(request.data, ensure_ascii=False)
        if data and len(data.encode()) > MAX_DATA_BYTES:
            raise TooLargeError(f"data must not be longer than {MAX_DATA_BYTES} bytes")
        return self._dal.run(deadline, partial(self._upsert, request, data, self._dal.unit_ids()), reserve=1)

    def set_status(self, runtime_id: int, request: RuntimeStatusRequest, deadline: "Deadline") -> RuntimeResult:
        return self._dal.run(deadline, partial(self._set_status, runtime_id, request.status), reserve=0)

    def set_frozen(self, runtime_id: int, deadline: "Deadline", *, is_frozen: bool) -> RuntimeResult:
        """Keep what was said as it is, or let it change again."""
        return self._dal.run(deadline, partial(self._set_frozen, runtime_id, is_frozen=is_frozen), reserve=0)

    def _upsert(self, request: UpsertRuntimeRequest, data: str | None, ids: "UnitIds", load: "DbExecutionLoad") -> RuntimeResult:
        ids.rewind()
        lifecycle_id, own_id = request.lifecycle_id or _NO_STEP, ids.next_id()
        key = RuntimeKey(instance_guid=request.instance_guid, lifecycle_id=lifecycle_id, activity_key=name_key(request.activity), actor=request.actor or "")
        places, rows = self._dal.read(load, self._dal.runtime.get_place(key), self._dal.runtime.get_by_key(key))
        if not places:
            raise _unknown_instance()
        if lifecycle_id and places[0].lifecycle_id is None:
            raise _unknown_step()
        if rows:
            wanted = replace(rows[0], status=request.status, data=data if request.has_data else rows[0].data)
            return self._report(load, rows[0], wanted, is_own=rows[0].runtime_id == own_id)
        place = places[0]
        new = NewRuntime(
            runtime_id=own_id, instance_id=place.instance_id, state_id=place.state_id, activity=request.activity.strip(), status=request.status, data=data
        )
        return self._write(load, own_id, self._dal.runtime.insert(new, key, self._clock.now()))

    def _set_status(self, runtime_id: int, status: str, load: "DbExecutionLoad") -> RuntimeResult:
        row = self._row(load, runtime_id)
        return self._report(load, row, replace(row, status=status), is_own=False)

    def _report(self, load: "DbExecutionLoad", row: RuntimeRow, wanted: RuntimeRow, *, is_own: bool) -> RuntimeResult:
        if row.is_frozen:
            return _result(row, changed=is_own)
        if row == wanted:
            # After a lost connection it was most likely this call that wrote it.
            return _result(row, changed=is_own or load.is_uncertain)
        return self._write(load, row.runtime_id, self._dal.runtime.update_report(wanted, self._clock.now()))

    def _set_frozen(self, runtime_id: int, load: "DbExecutionLoad", *, is_frozen: bool) -> RuntimeResult:
        row = self._row(load, runtime_id)
        if bool(row.is_frozen) is is_frozen:
            return _result(row, changed=load.is_uncertain)
        return self._write(load, runtime_id, self._dal.runtime.update_frozen(runtime_id, is_frozen=is_frozen, now=self._clock.now()))

    def _write(self, load: "DbExecutionLoad", runtime_id: int, change: "Statement") -> RuntimeResult:
        """Change the row and read what became of it: someone else may have frozen it since it was read."""
        changed, rows = self._dal.write(load, [change, self._dal.runtime.get_by_id(runtime_id)])
        return _result(rows[0], changed=changed > 0)

    def _row(self, load: "DbExecutionLoad", runtime_id: int) -> RuntimeRow:
        row = self._dal.first(load, self._dal.runtime.get_by_id(runtime_id))
        if row is None:
            raise NotFoundError("runtime", f"no activity {runtime_id}")
        return row


def _result(row: RuntimeRow, *, changed: bool) -> RuntimeResult:
    return RuntimeResult(runtime_id=row.runtime_id, changed=changed, frozen=bool(row.is_frozen), status=row.status)


def _unknown_instance() -> NotFoundError:
    return NotFoundError("instance", "no instance has this guid")


def _unknown_step() -> InvalidRequestError:
    message = "the instance has no such step"
    return InvalidRequestError(message, (ErrorItem(pointer="/lifecycle_id", code="UNKNOWN_LIFECYCLE", message=message),))
