"""Private database servers: they start, keep data, keep apart, end with their parent, and say what to do when they cannot."""

import fcntl
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pymysql
import pytest

from local import database, database_instance, machine
from local.database import main, running_server
from local.database_programs import OLDEST
from local.database_url import DatabaseUrl
from local.machine import ROOT, LocalSetupError

PARENT = """
import dataclasses, json, sys
from local.database import running_server
with running_server(sys.argv[1], "fast") as server:
    print(json.dumps(dataclasses.asdict(server)), flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def kind(monkeypatch):
    """The kind of server this run is about; the tests start their own, whatever server the run was given."""
    monkeypatch.delenv("WFE_DATABASE_URL", raising=False)
    return os.environ.get("DB") or "mariadb"


def answers(url: str) -> bool:
    try:
        return DatabaseUrl.parse(url).execute("SELECT 1") == 1
    except pymysql.MySQLError:
        return False


def test_a_server_answers_inside_the_block_and_is_gone_with_its_folder_after_it(kind):
    with running_server(kind, "fast") as server:
        assert answers(server.url)
        assert server.kind == kind
    assert not answers(server.url)
    assert not Path(server.directory).exists()


def test_a_failure_inside_the_block_ends_the_server_too(kind):
    with pytest.raises(ZeroDivisionError), running_server(kind, "fast") as server:
        raise ZeroDivisionError
    assert not answers(server.url)
    assert not Path(server.directory).exists()


def test_a_durable_server_keeps_its_data_over_a_restart(kind, tmp_path):
    folder = tmp_path / "server"
    with running_server(kind, directory=folder) as server:
        url = DatabaseUrl.parse(server.url)
        assert url.execute("SELECT @@innodb_flush_log_at_trx_commit") == 1
        url.execute("CREATE TABLE kept AS SELECT 'still here' AS word")
    with running_server(kind, directory=folder) as server:
        assert DatabaseUrl.parse(server.url).execute("SELECT word FROM kept") == "still here"


def test_a_folder_with_a_very_long_name_holds_a_server(kind, tmp_path):
    folder = tmp_path / ("a-long-name-" * 8) / ("and-a-longer-one-" * 6)
    with running_server(kind, "fast", directory=folder) as server:
        assert answers(server.url)


def test_two_servers_run_side_by_side_with_their_own_data(kind):
    with running_server(kind, "fast") as one, running_server(kind, "fast") as other:
        DatabaseUrl.parse(one.url).execute("CREATE TABLE mine (number INT)")
        assert DatabaseUrl.parse(one.url).port != DatabaseUrl.parse(other.url).port
        assert DatabaseUrl.parse(other.url).execute("SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'mine'") == 0


def test_the_settings_are_those_of_the_deployed_database(kind):
    wanted = {"wait_timeout": 60, "innodb_lock_wait_timeout": 5, "max_allowed_packet": 64 * 1024 * 1024, "time_zone": "+00:00", "log_bin": 0}
    with running_server(kind, "fast") as server:
        url = DatabaseUrl.parse(server.url)
        found = {name: url.execute(f"SELECT @@GLOBAL.{name}") for name in wanted}
        isolation = url.execute(
            "SELECT variable_value FROM information_schema.global_variables WHERE variable_name = 'TX_ISOLATION'"
            if kind == "mariadb"
            else "SELECT @@transaction_isolation"
        )
        assert found == wanted
        assert isolation == "READ-COMMITTED"
        assert url.execute("SELECT @@character_set_database") == "utf8mb4"


def test_the_user_of_the_address_may_make_users_and_grant_them_rights(kind):
    with running_server(kind, "fast") as server:
        url = DatabaseUrl.parse(server.url)
        url.execute("CREATE USER 'runtime'@'%' IDENTIFIED BY 'secret of a test'")
        url.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON wfe.* TO 'runtime'@'%'")
        runtime = DatabaseUrl(user="runtime", password="secret of a test", host=url.host, port=url.port, name=url.name)
        assert runtime.execute("SELECT CURRENT_USER()") == "runtime@%"


@pytest.mark.parametrize("signal_name", ["kill", "terminate"])
def test_a_killed_parent_leaves_neither_server_nor_folder_behind(kind, signal_name):
    parent = subprocess.Popen([sys.executable, "-c", PARENT, kind], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with parent:
        server = json.loads(parent.stdout.readline())
        with (Path(server["directory"]) / "lock").open("a") as lock:
            getattr(parent, signal_name)()
            released = threading.Thread(target=fcntl.flock, args=(lock, fcntl.LOCK_EX), daemon=True)
            released.start()
            released.join(20)
            assert not released.is_alive()
    assert not answers(server["url"])
    assert not Path(server["directory"]).exists()


def test_a_second_server_in_the_same_folder_is_refused_at_once(kind, tmp_path):
    with (
        running_server(kind, "fast", directory=tmp_path),
        pytest.raises(LocalSetupError, match="already runs in"),
        running_server(kind, "fast", directory=tmp_path),
    ):
        pass


def test_a_port_in_use_is_named(kind, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LocalSetupError, match=f"port {port} is in use: choose another"), running_server(kind, "fast", directory=tmp_path, port=port):
            pass


def test_a_port_lost_in_between_is_replaced_by_another(kind, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = iter([taken.getsockname()[1], database_instance.free_port()])
        monkeypatch.setattr(database_instance, "free_port", lambda: next(ports))
        with running_server(kind, "fast") as server:
            assert answers(server.url)


def test_a_broken_data_folder_shows_the_log_and_what_to_delete(kind, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "ibdata1").write_bytes(b"not a table space")
    with (
        pytest.raises(LocalSetupError, match=r"(?s)stopped while starting.*\[ERROR\].*delete .* and start again"),
        running_server(kind, "fast", directory=tmp_path),
    ):
        pass


def test_a_missing_program_that_cannot_be_installed_says_what_to_do(kind, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(machine, "SERVER_FOLDERS", ())
    monkeypatch.setattr("local.database_programs.MYSQL_ROOT", tmp_path / "mysql")
    with pytest.raises(LocalSetupError, match=r"(?s)is not on this machine.*apt-get install.*WFE_DATABASE_URL=mysql://"), running_server(kind):
        pass


def test_a_program_that_is_too_old_is_refused(kind, monkeypatch):
    monkeypatch.setitem(OLDEST, kind, (99, 0))
    with pytest.raises(LocalSetupError, match=r"is too old, 99\.0 is the oldest that works"), running_server(kind):
        pass


def test_a_given_server_is_used_as_it_is(database_server, monkeypatch):
    monkeypatch.setenv("WFE_DATABASE_URL", database_server.url)
    with running_server() as server:
        assert (server.url, server.kind, server.directory, server.pid) == (database_server.url, database_server.kind, None, None)
    assert answers(database_server.url)


def test_a_given_server_that_is_silent_is_named_without_its_password(monkeypatch):
    monkeypatch.setenv("WFE_DATABASE_URL", f"mysql://me:hush@127.0.0.1:{database_instance.free_port()}/wfe")
    with pytest.raises(LocalSetupError, match=r"WFE_DATABASE_URL names \(127\.0\.0\.1:\d+\) does not answer") as error, running_server():
        pass
    assert "hush" not in str(error.value)


def test_the_command_line_starts_finds_and_stops_a_server_that_outlives_it(kind, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(database, "SERVERS", tmp_path)
    assert main(["url", "--kind", kind]) == 1
    assert main(["start", "--kind", kind, "--profile", "fast"]) == 0
    try:
        assert main(["start", "--kind", kind]) == 0
        assert main(["url", "--kind", kind]) == 0
        first, again, found = capsys.readouterr().out.split()
        assert first == again == found
        assert answers(first)
    finally:
        assert main(["stop", "--kind", kind]) == 0
    assert not answers(first)
    assert main(["stop", "--kind", kind]) == 0
    assert capsys.readouterr().out.splitlines() == ["stopped", "no such server was running"]


def test_an_address_survives_being_written_and_read():
    url = DatabaseUrl(user="me@home", password="p/w:d?%", host="127.0.0.1", port=3307, name="wfe")
    assert DatabaseUrl.parse(str(url)) == url


@pytest.mark.parametrize("text", ["", "wfe", "postgres://me:pw@host/db", "mysql://host/db"])
def test_an_address_of_another_form_is_refused(text):
    with pytest.raises(LocalSetupError, match="mysql://user:password@host:port/name"):
        DatabaseUrl.parse(text)
