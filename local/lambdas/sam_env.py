"""The one file that `sam local invoke --env-vars` needs: every variable of every function, as the running local stack has it."""

import json
import os
import sys
from collections.abc import Mapping
from urllib.parse import urlsplit

from local.lambdas.invoke import running_environment
from local.lambdas.template import lambda_template
from local.machine import LOCAL, LocalSetupError, say
from local.stack import StackSettings

PATH = LOCAL / "sam_env.json"
# Those of them that a container has to reach.
PLACES = ("WFE_DATABASE_URL", "WFE_AWS_ENDPOINT_URL")
# A container means itself by these.
OWN = frozenset({"127.0.0.1", "0.0.0.0", "localhost"})  # noqa: S104
# How Docker names the host of its virtual machine, which all but Linux have; the name leads to the host's loopback too.
HOST = "host.docker.internal"

NOT_RUNNING = "no local stack runs on {address}:{port}: start one with `make serve`, and have WFE_BIND and WFE_PORT here as it has them"
NOT_REACHED = """the stack listens on {address}, which containers do not reach on Linux. Stop it, and start it on the address of Docker's bridge:
    export WFE_BIND=$(docker network inspect bridge --format '{{{{(index .IPAM.Config 0).Gateway}}}}')
    make serve"""


def sam_environment(stack: Mapping[str, str], platform: str = sys.platform) -> dict[str, dict[str, str]]:
    """Return the file's content: values for all functions at once, of which SAM hands each function those that it declares."""
    declared = {name: value for function in lambda_template().functions for name, value in function.environment.items()}
    # An option that is set in this shell counts, as it does for the stack.
    values = {name: stack.get(name, os.environ.get(name, value)) for name, value in declared.items()}
    return {"Parameters": values | {name: _seen_from_inside(values[name], platform) for name in PLACES}}


def _seen_from_inside(url: str, platform: str) -> str:
    address = urlsplit(url).hostname or ""
    if address not in OWN:
        return url
    if platform == "linux":
        raise LocalSetupError(NOT_REACHED.format(address=address))
    return url.replace(f"{address}:", f"{HOST}:")


def _running_stack() -> dict[str, str]:
    settings = StackSettings.from_environment()
    stack = running_environment(settings)
    if stack is None:
        raise LocalSetupError(NOT_RUNNING.format(address=settings.address, port=settings.port))
    return stack


def main() -> int:
    """Write the file and name it."""
    try:
        content = json.dumps(sam_environment(_running_stack()), indent=2)
    except LocalSetupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    PATH.touch(mode=0o600)
    PATH.write_text(f"{content}\n")
    say("written for the stack that runs now; a stack started anew has another password, and needs another file")
    print(PATH.relative_to(LOCAL.parent))
    return 0


if __name__ == "__main__":
    sys.exit(main())
