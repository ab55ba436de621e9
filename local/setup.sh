#!/bin/sh
# Make .venv (development tools) and .local/sam (SAM CLI), both from pinned requirements. Run by `make setup`.
set -eu
wanted=$1

say() { printf '· %s\n' "$*" >&2; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }
good() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
    for name in "$wanted" python3 python3.13 python3.12 python3.11 python3.14; do
        if good "$name"; then command -v "$name"; return; fi
    done
    return 1
}

# Debian and Ubuntu keep venv in a package of its own; a bare machine may lack Python altogether.
install_python() {
    if [ "$(id -u)" = 0 ]; then sudo=""; else sudo="sudo -n"; fi
    command -v apt-get >/dev/null && ${sudo:-env} true 2>/dev/null || return 1
    say "installing python3-venv with apt-get"
    $sudo apt-get update -q >/dev/null && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends python3-venv >/dev/null 2>&1
}

# $1 folder, $2 requirements, $3 constraints or nothing
make_environment() {
    [ -x "$1/bin/python" ] && good "$1/bin/python" || { rm -rf "$1"; "$python" -m venv "$1"; }
    "$1/bin/python" -m pip install -qq --no-input --disable-pip-version-check --requirement "$2" ${3:+--constraint "$3"}
    say "$1 is ready ($(( $(date +%s) - began )) s)"
}

began=$(date +%s)
if [ "$wanted" != python3 ] && ! good "$wanted"; then fail "PYTHON=$wanted is no Python from 3.11 on; leave it out to take the machine's own"; fi
python=$(find_python) || { install_python && python=$(find_python); } || fail "Python 3.11 or newer is needed: install it (Debian, Ubuntu: apt-get install python3-venv) or name it with PYTHON=/path/to/python3"
"$python" -c 'import ensurepip, venv' 2>/dev/null || install_python || fail "$python has no venv module: install it (Debian, Ubuntu: apt-get install python3-venv) or name another Python with PYTHON=/path/to/python3"
say "using $("$python" --version) at $python; about a minute the first time"

# A silent minute looks like a hung one. Ends by itself when this shell does.
tell_progress() {
    while sleep 10 </dev/null >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do say "still installing: $(count .venv) packages of the tools, $(count .local/sam) of SAM CLI ($(( $(date +%s) - began )) s)"; done
}
count() { find "$1"/lib -maxdepth 3 -name '*.dist-info' 2>/dev/null | wc -l; }

mkdir -p .local
tell_progress &
ticker=$!
trap 'kill $ticker 2>/dev/null || true' EXIT
make_environment .local/sam local/requirements-sam.txt >.local/setup-sam.log 2>&1 &
sam=$!
make_environment .venv local/requirements-dev.txt local/constraints.txt || fail "the development tools could not be installed (see above); is a package index reachable?"
wait "$sam" || { cat .local/setup-sam.log >&2; fail "SAM CLI could not be installed"; }
cat .local/setup-sam.log >&2
