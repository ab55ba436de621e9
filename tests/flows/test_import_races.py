"""Imports at the same moment, and imports whose connection is lost."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.documents import definition_l, policy_l
from tests.support.importing import soon
from workflow_engine.dal import Db
from workflow_engine.errors import ConnectionLostError
from workflow_engine.models.imports import ImportRequest

THREADS = 8


class LosingDb(Db):
    """Loses the connection once: before the packet with the given text is sent, or after it ran."""

    def __init__(self, target, part, *, after):
        super().__init__(target)
        self._part, self._after, self.lost = part, after, False

    def send(self, load, packet):
        is_it = not self.lost and any(self._part in item.sql for item in packet)
        if is_it and not self._after:
            self.lose()
        results = super().send(load, packet)
        if is_it:
            self.lose()
        return results

    def lose(self):
        self.lost = True
        self.close()
        raise ConnectionLostError("cut by the test")


def at_once(make, documents):
    """Import every document from a thread and a connection of its own, all at the same moment."""
    start, workers = threading.Barrier(len(documents)), [make() for _ in documents]

    def work(worker, document):
        start.wait()
        return worker.importer.import_blueprint(ImportRequest(env_code=worker.env_code, **document), soon())

    with ThreadPoolExecutor(len(documents)) as pool:
        return list(pool.map(work, workers, documents))


@pytest.mark.scenario(1)
def test_many_importers_of_one_new_document_make_one_version(importing, another_importing):
    answers = at_once(another_importing, [{"definition": definition_l(), "policy": policy_l()}] * THREADS)
    assert len({answer.definition.def_version_id for answer in answers}) == 1
    assert len({answer.policy.policy_id for answer in answers}) == 1
    assert sorted(answer.definition.result for answer in answers) == ["created"] + ["unchanged"] * (THREADS - 1)
    assert importing.counts() == {
        "environment": 1,
        "definition": 1,
        "def_version": 1,
        "state": 5,
        "events": 4,
        "transition": 6,
        "policy": 1,
        "def_policy": 1,
        "timeouts": 1,
    }


def test_many_importers_of_different_content_get_versions_one_after_the_other(importing, another_importing):
    importing.run(definition_l(version=None))

    def variant(number):
        return definition_l(version=None, events=[{"code": 10, "name": f"Submit {number}"}, *definition_l()["events"][1:]])

    answers = at_once(another_importing, [{"definition": variant(number)} for number in range(THREADS)])
    assert sorted(answer.definition.version for answer in answers) == list(range(2, THREADS + 2))
    active = importing.rows("SELECT v.version FROM definition d JOIN def_version v ON v.id = d.active_version")
    assert active == [{"version": THREADS + 1}]


def test_new_definitions_that_share_new_categories_do_not_stop_each_other(importing, another_importing):
    states = [{**state, "category": f"{state['category']} {importing.env_code}"} for state in definition_l()["states"]]
    documents = [{"definition": definition_l(name=f"Leave {number}", states=states if number % 2 else states[::-1])} for number in range(THREADS)]
    answers = at_once(another_importing, documents)
    assert [answer.definition.result for answer in answers] == ["created"] * THREADS
    found = importing.rows(f"SELECT COUNT(*) AS n FROM category WHERE name LIKE '%% {importing.env_code}'")
    assert found == [{"n": 3}]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("part", ["INSERT INTO def_version", "FROM definition"], ids=["write", "read"])
def test_an_import_whose_connection_is_lost_is_made_once_and_answered_as_its_own(importing, another_importing, part, after):
    db = LosingDb(importing.target, part, after=after)
    answer = another_importing(db).run(definition_l(), policy_l())
    assert db.lost
    assert (answer.definition.result, answer.policy.result, answer.warnings) == ("created", "created", [])
    assert importing.rows("SELECT id FROM def_version") == [{"id": answer.definition.def_version_id}]
    assert importing.rows("SELECT def_version_id, policy_id FROM def_policy") == [
        {"def_version_id": answer.definition.def_version_id, "policy_id": answer.policy.policy_id}
    ]


@pytest.mark.scenario(117)
def test_a_carried_policy_is_still_told_when_the_answer_to_the_commit_was_lost(importing, another_importing):
    db = LosingDb(importing.target, "UPDATE definition SET active_version", after=True)
    losing = another_importing(db)
    first = losing.run(definition_l(), policy_l())
    second = losing.run(definition_l(version=2, events=[{"code": 10, "name": "Send"}, *definition_l()["events"][1:]]))
    assert db.lost
    assert (second.definition.version, second.definition.result) == (2, "created")
    assert second.policy == first.policy.model_copy(update={"result": "unchanged"})
