"""`make serve` as a person or a script meets it: one line when it is ready, and nothing left when it ends."""

import json
import os
import shutil
import signal
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from local.database import SERVERS
from local.database.instance import free_port
from local.database.url import DatabaseUrl
from local.machine import LOCAL, LocalSetupError
from local.stack import StackSettings
from tests.support.server import create_database, drop_database
from tests.support.stack import serving

KIND = os.environ.get("DB") or "mariadb"


def folder_of(database_url: str) -> Path:
    """The folder of the private server with this address."""
    return next(note.parent for note in SERVERS.glob("*/server.json") if json.loads(note.read_text())["url"] == database_url)


def test_a_stack_says_when_it_is_ready_and_leaves_nothing_behind_after_an_interrupt():
    port = free_port()
    with serving(WFE_PORT=str(port)) as serve:
        caller = serve.ready()
        assert caller.url == f"http://127.0.0.1:{port}"
        assert caller.ok("GET", "/v1/health")["healthy"] is True
        about = caller.ok("GET", "/_local")
        code, seconds = serve.end()
        assert (code, seconds < 20) == (0, True)
    assert [name for name in ("api", "aws", "database") if is_listening(about[name])] == []


def is_listening(url: str) -> bool:
    place = urlsplit(url)
    with socket.socket() as probe:
        return probe.connect_ex((place.hostname, place.port)) == 0


def test_a_private_server_is_gone_with_its_folder_also_after_a_termination():
    with serving(WFE_PORT="0") as serve:
        folder = folder_of(serve.ready().ok("GET", "/_local")["database"])
        assert folder.is_dir()
        assert serve.end(signal.SIGTERM)[0] == 0
    assert not folder.exists()


def test_two_stacks_run_side_by_side_and_know_nothing_of_each_other():
    with serving(WFE_PORT="0") as first, serving(WFE_PORT="0") as second:
        one, other = first.ready(), second.ready()
        one.listen("registry")
        one.trigger("L-1")
        assert [len(caller.ok("GET", "/v1/instances")["items"]) for caller in (one, other)] == [1, 0]
        assert [len(caller.published()) for caller in (one, other)] == [1, 0]


def test_each_start_is_empty_unless_the_data_is_kept():
    port = str(free_port())
    folder = SERVERS / f"{KIND}.serve-{port}"
    found = []
    try:
        for keep in ("1", "1", ""):
            with serving(WFE_PORT=port, WFE_KEEP=keep) as serve:
                caller = serve.ready()
                found.append([item["external_ref"] for item in caller.ok("GET", "/v1/instances")["items"]])
                caller.listen("registry")
                caller.trigger(f"L-{len(found)}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    assert found == [[], ["L-1"], []]


def test_a_given_server_is_used_and_its_database_made_and_emptied_at_each_start(database_server):
    url = DatabaseUrl.parse(create_database(database_server.url))
    drop_database(str(url))
    try:
        for _ in range(2):
            with serving(WFE_PORT="0", WFE_DATABASE_URL=str(url)) as serve:
                caller = serve.ready()
                assert caller.ok("GET", "/_local")["database"] == str(url)
                assert caller.ok("GET", "/v1/instances")["items"] == []
                caller.listen("registry")
                caller.trigger("L-1")
                assert url.execute("SELECT COUNT(*) FROM instance") == 1
    finally:
        drop_database(str(url))


def test_a_database_with_tables_of_somebody_else_is_never_emptied(database_server):
    url = DatabaseUrl.parse(create_database(database_server.url))
    url.execute("CREATE TABLE invoices AS SELECT 1 AS paid")
    try:
        with serving(WFE_PORT="0", WFE_DATABASE_URL=str(url)) as serve:
            said = serve.failure()
        assert "what is not the engine's (invoices)" in said
        assert url.execute("SELECT COUNT(*) FROM invoices") == 1
    finally:
        drop_database(str(url))


@pytest.mark.parametrize("keep", ["", "1"])
def test_tables_that_only_have_our_names_are_somebody_elses(database_server, keep):
    url = DatabaseUrl.parse(create_database(database_server.url))
    url.execute("CREATE TABLE events AS SELECT 'my wedding' AS what")
    try:
        with serving(WFE_PORT="0", WFE_DATABASE_URL=str(url), WFE_KEEP=keep) as serve:
            assert "what is not the engine's (events)" in serve.failure()
        assert url.execute("SELECT what FROM events") == "my wedding"
    finally:
        drop_database(str(url))


@pytest.mark.parametrize(
    "program", ["PROCEDURE p() SELECT 1", "FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1", "EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1"]
)
def test_a_database_with_programs_of_somebody_else_is_not_the_engines(database_server, program):
    url = DatabaseUrl.parse(create_database(database_server.url))
    url.execute(f"CREATE {program}")
    try:
        with serving(WFE_PORT="0", WFE_DATABASE_URL=str(url)) as serve:
            assert "what is not the engine's (stored programs)" in serve.failure()
    finally:
        drop_database(str(url))


def test_the_private_database_of_a_running_stack_is_not_for_a_second_one():
    with serving(WFE_PORT="0") as first:
        given = first.ready().ok("GET", "/_local")["environment"]["WFE_DATABASE_URL"]
        with serving(WFE_PORT="0", WFE_DATABASE_URL=given) as second:
            assert "another local stack uses the database" in second.failure()


@pytest.mark.parametrize("address", ["127.0.0.1:abc/x", "127.0.0.1:99999/x", "[::1/x"])
def test_an_address_that_is_none_is_told(address):
    with serving(WFE_PORT="0", WFE_DATABASE_URL=f"mysql://me:hush@{address}") as serve:
        said = serve.failure()
    assert "a database address looks like mysql://" in said
    assert "hush" not in said


def test_a_login_without_rights_is_told(database_server):
    url = DatabaseUrl.parse(database_server.url)
    user = f"guest_{free_port()}"
    url.execute(f"CREATE USER '{user}'@'%' IDENTIFIED BY 'hush'")
    try:
        with serving(WFE_PORT="0", WFE_DATABASE_URL=f"mysql://{user}:hush@{url.place}/forbidden") as serve:
            assert "cannot be prepared" in serve.failure()
    finally:
        url.execute(f"DROP USER '{user}'@'%'")


def test_nothing_of_the_users_aws_and_no_proxy_disturbs_a_stack():
    strange = {"AWS_PROFILE": "nosuch", "AWS_MAX_ATTEMPTS": "x", "AWS_ENDPOINT_URL": "http://127.0.0.1:1", "HTTP_PROXY": "http://127.0.0.1:1"}
    with serving(WFE_PORT="0", http_proxy="http://127.0.0.1:1", **strange) as serve:
        caller = serve.ready()
        caller.listen("registry")
        caller.trigger("L-1")
        assert len(caller.published()) == 1


def test_a_terminal_that_is_closed_ends_the_stack_in_order():
    with serving(WFE_PORT="0") as serve:
        log = Path(serve.ready().ok("GET", "/_local")["log"])
        assert serve.end(signal.SIGHUP)[0] == 0
    assert not log.exists()


def test_an_address_of_another_machine_is_told_as_such():
    with serving(WFE_PORT="0", WFE_BIND="192.0.2.1") as serve:
        assert "name an IPv4 address of this machine" in serve.failure()


def test_two_stacks_on_one_given_database_are_refused_before_anything_is_emptied(database_server):
    url = create_database(database_server.url)
    try:
        with serving(WFE_PORT="0", WFE_DATABASE_URL=url) as first:
            first.ready()
            with serving(WFE_PORT="0", WFE_DATABASE_URL=url) as second:
                assert "another local stack uses the database" in second.failure()
    finally:
        drop_database(url)


def test_a_port_in_use_is_told_before_a_database_is_started():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with serving(WFE_PORT=str(port)) as serve:
            said = serve.failure()
    assert f"127.0.0.1:{port} cannot be listened on" in said
    assert "WFE_PORT=" in said
    assert "starting" not in said


def test_a_server_that_does_not_answer_is_told_with_what_to_do():
    with serving(WFE_PORT="0", WFE_DATABASE_URL=f"mysql://me:hush@127.0.0.1:{free_port()}/wfe") as serve:
        said = serve.failure()
    assert "cannot be used" in said
    assert "hush" not in said


def test_a_broken_data_folder_is_told_with_what_to_do():
    port = str(free_port())
    folder = SERVERS / f"{KIND}.serve-{port}"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "ibdata1").write_text("no database")
    try:
        with serving(WFE_PORT=port, WFE_KEEP="1") as serve:
            said = serve.failure()
    finally:
        shutil.rmtree(folder)
    assert f"delete {folder}" in said


@pytest.mark.parametrize(("variable", "value"), [("WFE_PORT", "eighty"), ("WFE_PORT", "70000"), ("DB", "postgres")])
def test_a_setting_that_means_nothing_is_told(variable, value):
    with pytest.raises(LocalSetupError, match=rf"{variable}={value} is "):
        StackSettings.from_environment({variable: value})


def test_a_wrong_option_of_the_engine_is_told_by_its_name_before_anything_starts():
    with serving(WFE_PORT="0", WFE_MAX_RETRY_COUNT="abc") as serve:
        said = serve.failure()
    assert "WFE_MAX_RETRY_COUNT: " in said
    assert "Traceback" not in said
    assert "starting" not in said


def test_what_functions_print_goes_to_a_file_and_not_to_the_terminal():
    with serving(WFE_PORT="0") as serve:
        caller = serve.ready()
        caller.listen("registry")
        caller.trigger("L-1")
        log = caller.ok("GET", "/_local")["log"]
        assert log.startswith(str(LOCAL))
        assert '"route":"POST /v1/trigger"' in Path(log).read_text("utf-8")
        serve.end()
        assert serve.process.stdout.read() == ""
    assert not Path(log).exists()
