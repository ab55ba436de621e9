"""A real MySQL unpacked into a folder, with the machine's own apt: no root needed, nothing on the system changes.

Ubuntu has MySQL among its packages. Debian's stable releases have only MariaDB, its unstable suite has MySQL; those packages need a newer
C library than the machine's, so the server runs with the loader and libraries that were unpacked beside it.
"""

import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from local.machine import LocalSetupError, find_command, newest_package, run, say

PACKAGE = "mysql-server-core"
RELEASES = frozenset({"oldstable", "stable", "testing", "unstable", "sid"})

# Check-Valid-Until: mirrors that lag or are kept at a date serve old, still signed, indexes.
APT_CONFIG = """Dir::State "{home}/state";
Dir::State::status "{home}/status";
Dir::Cache "{home}/cache";
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
APT::Architectures "{architecture}";
APT::Install-Recommends "false";
APT::Sandbox::User "";
"""

OWN_SOURCES = """Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "{home}/sources";
"""

# mysqld runs without perl, which only the helper scripts of the package want: 10 MB less.
STATUS = """Package: perl
Status: install ok installed
Architecture: {architecture}
Multi-Arch: allowed
Version: 99
Maintainer: nobody
Description: stands for the perl that mysqld does not need

"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One entry of the machine's apt sources."""

    uris: str
    suites: tuple[str, ...]
    components: tuple[str, ...]
    signed_by: str

    def serves(self, codename: str) -> bool:
        return "main" in self.components and bool({codename, *RELEASES} & set(self.suites))

    def stanza(self, suite: str) -> str:
        signed_by = f"Signed-By: {self.signed_by}\n" if self.signed_by else ""
        return f"Types: deb\nURIs: {self.uris}\nSuites: {suite}\nComponents: main\n{signed_by}"


def unpack_mysql(target: Path) -> None:
    """Download MySQL with all it needs and unpack it into the folder, which appears only when it is complete."""
    if not find_command("apt-get") or not find_command("dpkg-deb"):
        raise LocalSetupError("apt-get and dpkg-deb are needed to unpack MySQL")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="unpack-", dir=target.parent) as scratch:
        home, root = Path(scratch) / "apt", Path(scratch) / "root"
        root.mkdir()
        for archive in _download(home):
            run(["dpkg-deb", "-x", str(archive), str(root)])
        root.rename(target)


def _download(home: Path) -> list[Path]:
    environment = _prepare_apt(home)
    say("MySQL: reading the package index")
    _apt(environment, "update")
    package = newest_package(PACKAGE, _apt_cache(environment, "pkgnames", PACKAGE).split())
    say(f"MySQL: downloading {package} and its libraries (about 50 MB)")
    _apt(environment, "install", "--download-only", package)
    return sorted((home / "cache" / "archives").glob("*.deb"))


def _apt(environment: dict[str, str], *arguments: str) -> None:
    # apt itself checks the index's signature and each package's SHA-256 against it.
    run(["apt-get", "-y", "-q", *arguments], env=environment)


def _apt_cache(environment: dict[str, str], *arguments: str) -> str:
    return run(["apt-cache", *arguments], env=environment)


def _prepare_apt(home: Path) -> dict[str, str]:
    """Give apt a home of its own, in which nothing is installed, so that it resolves every library."""
    for folder in ("state/lists/partial", "cache/archives/partial", "sources"):
        (home / folder).mkdir(parents=True)
    architecture = run(["dpkg", "--print-architecture"]).strip()
    (home / "status").write_text(STATUS.format(architecture=architecture))
    release = _os_release(Path("/etc/os-release").read_text())
    config = APT_CONFIG.format(home=home, architecture=architecture)
    if release.get("ID") == "debian":
        sources = [source for source in read_sources(Path("/etc/apt")) if source.serves(release.get("VERSION_CODENAME", ""))]
        if not sources:
            raise LocalSetupError("the apt sources of this machine name no Debian mirror")
        (home / "sources" / "unstable.sources").write_text(sources[0].stanza("unstable"))
        config += OWN_SOURCES.format(home=home)
    (home / "apt.conf").write_text(config)
    return {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C", "APT_CONFIG": str(home / "apt.conf")}


def _os_release(text: str) -> dict[str, str]:
    return {key: value.strip("\"'") for key, _, value in (line.partition("=") for line in text.splitlines())}


def read_sources(folder: Path) -> list[Source]:
    """Return what apt is configured with, in both of its notations."""
    lists = [folder / "sources.list", *sorted((folder / "sources.list.d").glob("*.list"))]
    found = [source for path in lists if path.is_file() for source in parse_list(path.read_text())]
    return found + [source for path in sorted((folder / "sources.list.d").glob("*.sources")) for source in parse_deb822(path.read_text())]


def parse_list(text: str) -> list[Source]:
    """Read lines like `deb [signed-by=KEY] URI SUITE COMPONENT…`."""
    lines = re.finditer(r"^\s*deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)[ \t]*(?P<components>[^#\n]*)", text, re.MULTILINE)
    return [_from_line(line) for line in lines]


def _from_line(line: re.Match[str]) -> Source:
    key = re.search(r"signed-by=(\S+)", line["options"] or "")
    return Source(uris=line["uri"], suites=(line["suite"],), components=tuple(line["components"].split()), signed_by=key[1] if key else "")


def parse_deb822(text: str) -> list[Source]:
    """Read paragraphs of `Field: value`; a key may stand in the paragraph itself, on indented lines."""
    plain = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    paragraphs = [dict(re.findall(r"^([\w-]+):[ \t]*(.*(?:\n[ \t].*)*)", part, re.MULTILINE)) for part in re.split(r"\n\s*\n", plain)]
    return [_from_fields({key.lower(): value for key, value in fields.items()}) for fields in paragraphs if _is_binary(fields)]


def _is_binary(fields: dict[str, str]) -> bool:
    return "deb" in fields.get("Types", "").split() and fields.get("Enabled", "yes").strip().lower() not in {"no", "false", "0"}


def _from_fields(fields: dict[str, str]) -> Source:
    return Source(
        uris=fields["uris"].strip(),
        suites=tuple(fields["suites"].split()),
        components=tuple(fields.get("components", "").split()),
        signed_by=fields.get("signed-by", "").rstrip(),
    )
