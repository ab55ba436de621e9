"""The commands of the consumers' README, pasted as they stand; only the ports are the test's own."""

import socket

import pytest

from tests.docs.pages import block
from tests.examples.place import running
from tests.support.stack import ROOT

README = "examples/consumers/README.md"


@pytest.mark.parametrize("heading", ["HTTPS", "SQS", "Lambda"])
def test_the_commands_work_when_pasted(served, heading, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = {"8787": served.url.rpartition(":")[2], "8443": str(taken.getsockname()[1]), "VENDOR-1": f"VENDOR-{heading}"}

    def pasted(*headings):
        text = "\n".join(block(README, one, "sh") for one in headings)
        for written, ours in ports.items():
            text = text.replace(written, ours)
        return ["bash", "-euo", "pipefail", "-c", text]

    with running(pasted("On your machine", heading), {"TMPDIR": str(tmp_path)}, cwd=ROOT) as consumer:
        if heading == "HTTPS":
            consumer.says('"POST / HTTP/1.1" 204')
        with running(pasted("Give them something to do"), {}, cwd=ROOT, is_ready="items") as trigger:
            assert any('"applied":true' in line for line in trigger.lines), trigger.lines
        consumer.says(f"hook VENDOR-{heading}", times=2)
        consumer.says("Processed", times=3)
    (vendor,) = served.ok("GET", f"/v1/instances?env_code=1&external_ref=VENDOR-{heading}")["items"]
    assert vendor["current_state"] == "PendingPQValidation"
