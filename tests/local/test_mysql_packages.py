"""Where MySQL's packages come from: the machine's own apt sources, in both of their notations."""

import pytest

from local.database.mysql_packages import Source, parse_deb822, parse_list, read_sources
from local.machine import LocalSetupError, newest_package

DEB822 = """# a comment
Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
# another comment
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main

Types: deb
Enabled: no
URIs: http://off.example/debian
Suites: bookworm
Components: main

Types: deb-src
URIs: http://sources.example/debian
Suites: bookworm
Components: main
"""

INLINE_KEY = """Types: deb
URIs: http://mirror.example/debian
Suites: stable
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQINBF
 -----END PGP PUBLIC KEY BLOCK-----
"""

LIST = """# deb http://off.example/debian bookworm main
deb [arch=amd64 signed-by=/keys/a.gpg] http://mirror.example/debian bookworm main contrib # ours
deb-src http://mirror.example/debian bookworm main
deb http://other.example/node nodistro main
"""


def test_paragraphs_are_read_without_sources_and_switched_off_ones():
    mirror, security = parse_deb822(DEB822)
    assert mirror == Source(
        uris="http://mirror.example/debian",
        suites=("bookworm", "bookworm-updates"),
        components=("main", "contrib"),
        signed_by="/usr/share/keyrings/debian-archive-keyring.gpg",
    )
    assert security.suites == ("bookworm-security",)


def test_a_key_inside_the_paragraph_is_handed_on_as_it_stands():
    (source,) = parse_deb822(INLINE_KEY)
    (copied,) = parse_deb822(source.stanza("unstable"))
    assert copied.signed_by == source.signed_by
    assert source.signed_by.splitlines()[1:] == INLINE_KEY.splitlines()[5:]
    assert copied.suites == ("unstable",)


def test_lines_are_read_with_their_key():
    mirror, other = parse_list(LIST)
    assert mirror == Source(uris="http://mirror.example/debian", suites=("bookworm",), components=("main", "contrib"), signed_by="/keys/a.gpg")
    assert other.suites == ("nodistro",)


def test_only_the_archive_of_the_release_serves():
    assert [source.serves("bookworm") for source in parse_deb822(DEB822) + parse_list(LIST)] == [True, False, True, False]
    assert parse_deb822(INLINE_KEY)[0].serves("trixie")


def test_a_stanza_without_a_key_leaves_the_choice_to_apt():
    assert (
        parse_list("deb http://mirror.example/debian sid main")[0].stanza("unstable")
        == "Types: deb\nURIs: http://mirror.example/debian\nSuites: unstable\nComponents: main\n"
    )


def test_all_files_of_the_sources_folder_are_read(tmp_path):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text("deb http://one.example/debian sid main\n")
    (tmp_path / "sources.list.d" / "two.list").write_text("deb http://two.example/debian sid main\n")
    (tmp_path / "sources.list.d" / "three.sources").write_text(INLINE_KEY)
    assert [source.uris for source in read_sources(tmp_path)] == ["http://one.example/debian", "http://two.example/debian", "http://mirror.example/debian"]


@pytest.mark.parametrize(
    ("names", "newest"),
    [
        (["mysql-server-core-8.0", "mysql-server-core"], "mysql-server-core"),
        (["mysql-server-core-8.0", "mysql-server-core-8.4", "mysql-server-core-10.0", "mysql-server-core-extra"], "mysql-server-core-10.0"),
    ],
)
def test_the_newest_package_of_a_name_is_chosen(names, newest):
    assert newest_package("mysql-server-core", names) == newest


def test_a_name_without_a_package_is_refused():
    with pytest.raises(LocalSetupError, match="have no mysql-server-core"):
        newest_package("mysql-server-core", ["mysql-common"])
