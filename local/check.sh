#!/bin/sh
# The fast half of the tests: everything that needs no database. Runs all of it, then says what failed and what to do. Run by `make check`.
set -u
failed=""
bin=.venv/bin

# $1 name, $2 what to do when it fails, then the command
step() {
    name=$1 advice=$2
    shift 2
    began=$(date +%s)
    if output=$("$@" 2>&1); then
        printf 'ok    %-10s %3s s\n' "$name" "$(( $(date +%s) - began ))"
    else
        printf '%s\nFAIL  %-10s %s\n' "$output" "$name" "$advice"
        failed="$failed $name"
    fi
}

step format "run 'make format'" $bin/ruff format --check
step lint "run 'make format', then mend what it cannot" $bin/ruff check
step mypy "the types do not fit: each line names the place" $bin/mypy
step pyright "the types do not fit: each line names the place; SQL must be a literal" $bin/basedpyright
step imports "an arrow points the wrong way: see the contracts in pyproject.toml" $bin/lint-imports --no-logo
step rules "a coding rule is broken: the message names rule and line" $bin/python -m pytest -q -p no:cacheprovider tests/rules
step template "cfn-lint names the resource and the property" $bin/cfn-lint template.yaml

[ -z "$failed" ] || { printf '\nfailed:%s\n' "$failed"; exit 1; }
