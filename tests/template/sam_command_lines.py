"""The command line of `sam local invoke`, read by SAM's own parser: in come lists of arguments, out come what they say, or the complaint (JSON)."""

import json
import sys

import click
from samcli.commands.local.invoke.cli import cli


def read(arguments: list[str]) -> dict[str, object]:
    try:
        options, _, _ = cli.make_parser(click.Context(cli)).parse_args(list(arguments))
    except click.UsageError as error:
        return {"error": error.format_message()}
    return {name: value for name, value in options.items() if isinstance(value, str)}


if __name__ == "__main__":
    json.dump([read(arguments) for arguments in json.load(sys.stdin)], sys.stdout)
