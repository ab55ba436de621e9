#!/bin/sh
# Resolve the pinned requirements anew in a throw-away environment and note what they brought along. Run by `make lock`.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$1" -m venv "$scratch/venv"
"$scratch/venv/bin/python" -m pip install -qq --no-input --disable-pip-version-check --requirement local/requirements-dev.txt
{
    echo "# Exact versions of everything that local/requirements-dev.txt brings along. Written by 'make lock'."
    "$scratch/venv/bin/python" -m pip freeze
} >"$scratch/constraints.txt"
mv "$scratch/constraints.txt" local/constraints.txt
echo "local/constraints.txt: $(grep -c == local/constraints.txt) packages"
