"""`make run` as a newcomer meets it: a story that is true, lines that work when pasted, and nothing left afterwards."""

import io
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from standardwebhooks.webhooks import Webhook

from local.demo.api import Api, StoryError
from local.demo.chapters import CHAPTERS, Chapter, play
from local.demo.inbox import is_signed_with
from local.demo.playing import run
from local.demo.print import WIDTH, Printer, wants_colour
from local.demo.story import opened_story
from local.stack import StackSettings
from local.stack.cloud import client
from tests.local.test_serve import is_listening
from tests.support.server import create_database, drop_database
from tests.support.stack import ROOT, stack_on

LAST_HEADING = "What registry and audit receive from here on"


class Demo:
    """`python -m local.run` in a process group of its own, and what it has said so far."""

    def __init__(self, process):
        self.process = process
        self.said = ""

    def wait_for(self, text, seconds=60):
        """Read until the text has been said; fail when it ends or time is up before that."""
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while text not in self.said:
                assert selector.select(max(0.0, deadline - time.monotonic())), f"{text!r} was not said within {seconds} s:\n{self.said}"
                part = os.read(self.process.stdout.fileno(), 65_536)
                assert part, f"it ended before it said {text!r}:\n{self.said}"
                self.said += part.decode()
        return self.said

    def end(self):
        """Press Ctrl-C, as a terminal does it: the whole group gets it."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(20)

    @property
    def api(self):
        return Api(re.search(r"http://127\.0\.0\.1:\d+", self.said)[0])

    @property
    def commands(self):
        """What stands below each of the numbered titles."""
        return re.findall(r"^   \d+\. (.+)\n((?:curl|  ).*(?:\n(?! {3}\d|\n|── ).+)*)", self.said, re.MULTILINE)


@contextmanager
def demo(**environment):
    given = {name: value for name, value in os.environ.items() if not name.startswith(("WFE_", "DEMO"))}
    path = {"PYTHONPATH": os.pathsep.join([str(ROOT / "layers/workflow_engine/python"), str(ROOT)]), "WFE_PORT": "0"}
    command = [sys.executable, "-m", "local.run"]
    with subprocess.Popen(
        command, cwd=ROOT, env=given | path | environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            yield Demo(process)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(20)


def told(**options):
    """A printer and the text it fills."""
    text = io.StringIO()
    return Printer(text, **options), text


def test_the_story_is_told_to_its_end_in_plain_text_a_hundred_columns_wide():
    with demo(DEMO="once") as once:
        said = once.wait_for("every step was checked")
        assert once.process.wait(20) == 0
    assert "\x1b" not in said
    assert [line for line in said.splitlines() if len(line) > WIDTH] == []
    assert re.findall(r"^(\d) ── (.+?) ─+$", said, re.MULTILINE) == [(str(number), chapter.title) for number, chapter in enumerate(CHAPTERS, 1)]


def test_the_story_is_the_same_when_the_timer_comes_before_it(database_server):
    """Somebody else makes one pass of the monitor after the other, between any two steps."""
    show, text = told()
    with stack_on(database_server) as caller:
        done = threading.Event()

        def make_passes():
            while not done.is_set():
                caller.ok("POST", "/_local/monitor")

        passes = threading.Thread(target=make_passes)
        passes.start()
        try:
            with opened_story(Api(caller.url), show) as it:
                play(it, CHAPTERS)
        finally:
            done.set()
            passes.join()
    for fact in ("attempt 2 ✓", "DEFAULT_STATE_STALE", "STATE_TIMEOUT_EXCEEDED", "attempts 0", "arrived as seq 4, 5, 6, at attempt 1, 1, 1"):
        assert fact in text.getvalue()


@pytest.mark.parametrize(("consumer", "after", "failed"), [("registry", 1, "2.2 (registry receives seq 1 of"), ("audit", 3, "4.5 (audit receives seq 1 of")])
def test_a_removed_subscription_ends_the_story_with_a_clear_failure(database_server, monkeypatch, consumer, after, failed):
    def remove(it):
        about = it.api.call("ops", "GET", "/_local")
        sns = client("sns", about["aws"])
        address = it.consumers[consumer].endpoint["address"]
        for one in sns.list_subscriptions_by_topic(TopicArn=about["topics"]["work"])["Subscriptions"]:
            if one["Endpoint"] == address:
                sns.unsubscribe(SubscriptionArn=one["SubscriptionArn"])

    # The number of a chapter is its place, so the sabotage stands at the end of the one before.
    before = CHAPTERS[after - 1]
    sabotaged = Chapter(title=before.title, explanation=before.explanation, play=lambda it: (before.play(it), remove(it)))
    show, text = told()
    url = create_database(database_server.url)
    monkeypatch.setenv("WFE_DATABASE_URL", url)
    code = run(show, StackSettings(port=0), once=True, chapters=[*CHAPTERS[: after - 1], sabotaged, *CHAPTERS[after:]], patience=1.0)
    drop_database(url)
    said = " ".join(text.getvalue().split())
    assert code == 1
    assert f"the story went wrong at step {failed} VENDOR-4" in said
    assert re.search(r"expected within 1 s \['(hook', ')?transition'\], got \[\]", said)
    Path(re.search(r"What the functions logged is in (\S+)", said)[1]).unlink()


def test_a_refused_call_ends_the_story_with_what_the_engine_said(database_server):
    show, _ = told()
    with stack_on(database_server) as caller, opened_story(Api(caller.url), show) as it:
        it.begin(1, "A trigger before its time", "Nothing has been imported.")
        with pytest.raises(
            StoryError, match=r"step 1\.1 \(portal raises Start for V-1\): expected an answer to POST /v1/trigger, got 404 DEFINITION_NOT_FOUND"
        ):
            it.trigger("V-1", "Start", ("Received", "CheckVendorRegistered"), "form-1")


# For a machine that has no curl: what the lines use of it, and the status on the side.
CURL = """#!{python}
import sys, urllib.request
from argparse import ArgumentParser
parser = ArgumentParser()
for flags, more in ((("-s",), {{"action": "store_true"}}), (("-X",), {{}}), (("-d",), {{}}), (("url",), {{}})):
    parser.add_argument(*flags, **more)
given = parser.parse_args()
data = given.d.encode() if given.d else None
with urllib.request.urlopen(urllib.request.Request(given.url, data=data, method=given.X)) as response:
    sys.stdout.write(response.read().decode())
    sys.stderr.write(str(response.status))
"""


@pytest.fixture
def paste(tmp_path):
    """Paste a command into a shell; what comes back is the status and the answer."""
    path = os.environ["PATH"]
    (tmp_path / ".curlrc").write_text('write-out = "%{stderr}%{http_code}"\n')
    if not shutil.which("curl"):
        (tmp_path / "curl").write_text(CURL.format(python=sys.executable))
        (tmp_path / "curl").chmod(0o755)
        path = f"{tmp_path}{os.pathsep}{path}"

    def pasted(command):
        environment = {**os.environ, "CURL_HOME": str(tmp_path), "PATH": path}
        done = subprocess.run(["/bin/sh", "-c", command], env=environment, capture_output=True, text=True, timeout=30, check=True)
        return done.stderr, json.loads(done.stdout)

    return pasted


def test_everything_to_try_works_when_pasted_and_the_consumers_take_part(paste):
    with demo(WFE_MONITOR_INTERVAL_SECONDS="1") as running:
        running.wait_for(LAST_HEADING)
        pasted = {title: paste(command) for title, command in running.commands}
        assert {status for status, _ in pasted.values()} == {"200"}
        health, vendors, why, timeline, moved, imported, closed, clock, report, notices, published = (answer for _, answer in pasted.values())
        assert (health["healthy"], health["consumers"]["total"]) == (True, 2)
        assert {one["external_ref"]: one["status"] for one in vendors["items"]} == {"VENDOR-42": "Completed", "VENDOR-43": "Active"}
        assert why["summary"].startswith("Every consumer has processed step 1")
        assert [step["seq"] for step in timeline["timeline"]] == [1, 2, 3, 4, 5, 6]
        assert (moved["applied"], moved["replayed"], moved["to_state"]) == (True, False, "PendingPQValidation")
        assert paste(running.commands[4][1])[1]["replayed"] is True
        assert (imported["definition"]["name"], imported["definition"]["result"]) == ("Ticket", "created")
        assert (closed["applied"], closed["to_state"]) == (True, "Closed")
        assert clock["now"] > vendors["items"][0]["modified"]
        assert report["passes"] == 1
        assert {(one["code"], one["external_ref"]) for one in notices["items"]} >= {("STATE_TIMEOUT_EXCEEDED", "VENDOR-43")}
        assert {message["attributes"].get("consumer") for message in published} >= {"registry", "audit"}
        for line in ("audit    ← sqs       T-1  seq 1  Open → Closed", "registry → ack       VENDOR-43  seq 3  hook Processed"):
            running.wait_for(line, 40)
        assert [line for line in running.said.splitlines() if len(line) > WIDTH] == []


def processes():
    """Id, parent and command of every process; a bare machine has no ps, a Mac no /proc."""
    if not Path("/proc/self").exists():
        listed = subprocess.run(["/bin/ps", "-axo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
        return [(int(pid), int(parent), command) for pid, parent, command in (line.split(None, 2) for line in listed.splitlines())]
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # The name stands in brackets and may hold anything.
            state_and_parent = (folder / "stat").read_text().rpartition(")")[2].split()
            found.append((int(folder.name), int(state_and_parent[1]), (folder / "cmdline").read_text().replace("\0", " ")))
    return found


def descendants(pid):
    """Every process below the given one, with its command."""
    known, found, below = processes(), {}, {pid}
    while fresh := {one: command for one, parent, command in known if parent in below and one not in below}:
        below |= set(fresh)
        found |= fresh
    return found


def test_an_interrupt_ends_the_demo_and_all_of_its_children_and_leaves_no_port_and_no_folder():
    with demo() as running:
        running.wait_for(LAST_HEADING)
        about = running.api.call("ops", "GET", "/_local")
        https = re.search(r"https://127\.0\.0\.1:\d+", running.said)[0]
        children = descendants(running.process.pid)
        began = time.monotonic()
        assert running.end() == 0
        assert time.monotonic() - began < 20
    assert any("guard" in command for command in children.values())
    assert [command for pid, _, command in processes() if children.get(pid) == command] == []
    assert [url for url in (about["api"], about["aws"], about["database"], https) if is_listening(url)] == []
    folders = {Path(found).parent for command in children.values() for found in re.findall(r"--datadir=(\S+)", command)}
    assert [place for place in (*folders, Path(about["log"])) if place.exists()] == []


def test_a_story_that_is_interrupted_has_not_been_told():
    with demo(DEMO="once") as once:
        once.wait_for("A workflow, and who must be told")
        assert once.end() == 130


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_colours_are_for_terminals_whose_owner_wants_them(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour(Terminal())
    assert not wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_colour(Terminal())


@pytest.mark.parametrize("length", [5, 60, 90, 300])
def test_colours_change_no_column_and_nothing_is_wider_than_a_hundred(length):
    printed = []
    for colour in (False, True):
        show, text = told(colour=colour)
        show.chapter(1, "A chapter", "word " * length)
        show.line("registry", "← https", "x" * length, "attempt 1 ✓")
        show.table(["a", "number"], [["x", "1"], ["yy", "22"]], right=("number",))
        show.box("A box", ["label       " + "word " * length])
        printed.append(re.sub(r"\x1b\[[\d;]*m", "", text.getvalue()))
        assert ("\x1b" in text.getvalue()) is colour
    assert printed[0] == printed[1]
    assert max(map(len, printed[0].splitlines())) <= WIDTH


def test_a_signature_is_that_of_standard_webhooks_and_a_changed_body_has_none():
    key, body, sent = "whsec_bXkga2V5IGlzIG15IGtleQ==", '{"seq": 1}', datetime(2027, 1, 15, 8, tzinfo=UTC)
    attributes = {
        "webhook-id": "guid",
        "webhook-timestamp": str(int(sent.timestamp())),
        "webhook-signature": f"v1,bm90IGl0 {Webhook(key).sign('guid', sent, body)}",
    }
    assert is_signed_with(key, body, attributes)
    assert not is_signed_with(key, body.replace("1", "2"), attributes)
    assert not is_signed_with("whsec_b3RoZXI=", body, attributes)
    assert not is_signed_with(key, body, {})
