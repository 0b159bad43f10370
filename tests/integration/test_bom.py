"""scripts/bom, the image's bill of materials: for root file systems made here, and this build's program."""
import json
import os
import re
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import spdx  # noqa: E402

PROGRAM = os.environ.get("FRICTIOND", str(ROOT / "build/frictiond"))
DIGEST = "sha256:" + "7" * 64
FORMAT = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"


def files(*licenses):
    return FORMAT + "".join(f"\nFiles: {i}\nCopyright: somebody\nLicense: {name}\n" for i, name in enumerate(licenses))


def needed():
    output = subprocess.run(["readelf", "-d", PROGRAM], check=True, capture_output=True, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output)


def package(root, name, version="1-1", status="install ok installed", copyright=None, maintainer="A B <a@example.org>",
            files=(), more=""):
    admin = root / "var/lib/dpkg"
    with open(admin / "status", "a", encoding="utf-8") as file:
        file.write(f"Package: {name}\nStatus: {status}\nMaintainer: {maintainer}\nArchitecture: amd64\n"
                   f"Version: {version}\nDescription: something\n{more}\n")
    (admin / f"info/{name}.list").write_text("".join(path + "\n" for path in files))
    if copyright is not None:
        (root / f"usr/share/doc/{name}").mkdir()
        (root / f"usr/share/doc/{name}/copyright").write_text(copyright)


def make(root):
    """Two packages, which have the libraries of the program. The list of the first has other files of the same names."""
    for folder in ("usr/lib", "usr/share/doc", "var/lib/dpkg/info", "var/lib/dpkg/updates"):
        (root / folder).mkdir(parents=True)
    (root / "usr/lib/os-release").write_text('ID=debian\nVERSION_ID="12"\n')
    libraries = needed()
    package(root, "lib32", files=[f"/usr/lib32/{name}" for name in libraries])
    package(root, "libthere", files=[f"/usr/lib/x86_64-linux-gnu/{name}" for name in libraries])
    return root


@pytest.fixture
def root(tmp_path):
    return make(tmp_path)


def run(root, base=f"debian:bookworm-slim@{DIGEST}", program=PROGRAM):
    environment = {**os.environ, "VERSION": "1.2.3", "BASE": base, "SOURCE_DATE_EPOCH": "1767225600"}
    return subprocess.run([ROOT / "scripts/bom", root, program], env=environment, capture_output=True, encoding="utf-8")


def document(root, **options):
    result = run(root, **options)
    assert result.returncode == 0, result.stderr
    found = spdx.load(result.stdout)
    assert spdx.faults(found) == []
    return found


def packages(root):
    return {package["name"]: package for package in document(root)["packages"]}


def related(found, kind):
    names = {package["SPDXID"]: package["name"] for package in found["packages"]}
    return sorted(names[r["relatedSpdxElement"]] for r in found["relationships"] if r["relationshipType"] == kind)


def test_it_describes_image_program_and_base(root):
    found = document(root)
    assert found["creationInfo"]["created"] == "2026-01-01T00:00:00Z"
    assert related(found, "DESCRIBES") == ["frictiond-image"]
    assert related(found, "CONTAINS") == ["frictiond", "lib32", "libthere"]
    assert related(found, "DESCENDANT_OF") == ["debian:bookworm-slim"]
    by_name = {package["name"]: package for package in found["packages"]}
    assert by_name["debian:bookworm-slim"]["versionInfo"] == DIGEST
    own = by_name["frictiond"]
    sum_of_program = subprocess.run(["sha256sum", PROGRAM], check=True, capture_output=True, text=True).stdout.split()[0]
    assert own["checksums"] == [{"algorithm": "SHA256", "checksumValue": sum_of_program}]
    assert (own["versionInfo"], own["licenseDeclared"]) == ("1.2.3", "MIT")
    assert own["copyrightText"] in (ROOT / "LICENSE").read_text()


def test_a_base_without_digest_has_no_version(root):
    found = document(root, base="debian:bookworm-slim")
    (base,) = [package for package in found["packages"] if package["SPDXID"] == "SPDXRef-Base"]
    assert base["name"] == "debian:bookworm-slim" and "versionInfo" not in base


def test_the_program_is_linked_with_libraries_where_the_linker_finds_them(root):
    assert related(document(root), "DYNAMIC_LINK") == ["libthere"]


def test_a_library_that_no_package_has_is_an_error(root):
    (root / "var/lib/dpkg/info/libthere.list").write_text("/etc/libc.so.6\n")
    result = run(root)
    assert result.returncode == 1 and result.stdout == ""
    assert re.search(r"^scripts/bom: no package has lib\S+$", result.stderr, re.M)


def test_a_program_that_is_none_is_an_error(root):
    result = run(root, program=str(ROOT / "LICENSE"))
    assert result.returncode != 0 and result.stdout == ""


def test_only_installed_packages_are_listed(root):
    package(root, "gone", status="deinstall ok config-files")
    package(root, "half", status="install reinstreq half-installed")
    package(root, "held", status="hold ok installed")
    listed = {name for name, found in packages(root).items() if found["SPDXID"].startswith("SPDXRef-deb-")}
    assert listed == {"lib32", "libthere", "held"}


def test_names_versions_and_sources(root):
    package(root, "libx++6", version="2:1.0~rc1+dfsg-3+deb12u1",
            more="Source: x-12 (12.2.0-14)\nHomepage: https://example.org/x\n")
    x = packages(root)["libx++6"]
    assert x["SPDXID"] == "SPDXRef-deb-libx-plus-plus6-amd64"
    assert x["versionInfo"] == "2:1.0~rc1+dfsg-3+deb12u1"
    assert x["sourceInfo"] == "built from Debian source package x-12 12.2.0-14"
    assert x["homepage"] == "https://example.org/x"
    assert x["externalRefs"][0]["referenceLocator"] == \
        "pkg:deb/debian/libx%2B%2B6@2:1.0~rc1%2Bdfsg-3%2Bdeb12u1?arch=amd64&distro=debian-12"


@pytest.mark.parametrize("maintainer, supplier", [
    ("A B <a@example.org>", "Organization: A B (a@example.org)"),
    ('José "J\\P" Ω <j@example.org>', 'Organization: José "J\\P" Ω (j@example.org)'),
    ("Nobody", "NOASSERTION"),
    ("Some (https://example.org) <a@example.org>", "NOASSERTION"),
    ("A <https://example.org/>", "NOASSERTION"),
])
def test_suppliers(root, maintainer, supplier):
    package(root, "x", maintainer=maintainer)
    assert packages(root)["x"]["supplier"] == supplier


@pytest.mark.parametrize("copyright, license", [
    (None, "NOASSERTION"),
    ("", "NOASSERTION"),
    ("This package was debianized by somebody.\n\nFiles: *\nLicense: Expat\n", "NOASSERTION"),
    (FORMAT + "License: Expat\n", "NOASSERTION"),  # of the header, not of files
    (files("Expat"), "MIT"),
    (files("expat"), "MIT"),
    (files("GPL-2+"), "GPL-2.0-or-later"),
    (files("GPL-2"), "GPL-2.0-only"),
    (files("Expat", "BSD-3-clause", "Expat"), "MIT AND BSD-3-Clause"),
    (files("Expat and ISC", "ISC"), "MIT AND ISC"),
    (files("GPL-2+ or Expat", "ISC"), "(GPL-2.0-or-later OR MIT) AND ISC"),
    (files("Expat", "whatever"), "NOASSERTION"),
    (files("Expat", ""), "NOASSERTION"),
    (files("Expat or"), "NOASSERTION"),
    (files("Expat ISC"), "NOASSERTION"),
    (files("Expat, and ISC"), "NOASSERTION"),
    (files("MIT/X11"), "NOASSERTION"),
    (files("GPL-2+ with OpenSSL exception"), "NOASSERTION"),
    (files("Expat  \r"), "MIT"),
    (files("Expat") + "\nLicense: whatever\n its text\n", "MIT"),  # the text of a licence, on its own
])
def test_licenses(root, copyright, license):
    package(root, "x", copyright=copyright)
    x = packages(root)["x"]
    assert (x["licenseDeclared"], x["licenseConcluded"]) == (license, "NOASSERTION")


def test_a_package_may_share_the_licences_of_another(root):
    package(root, "x-base", copyright=files("Zlib"))
    package(root, "x")
    (root / "usr/share/doc/x").symlink_to("x-base")
    assert packages(root)["x"]["licenseDeclared"] == "Zlib"


def test_the_same_input_gives_the_same_bytes(root):
    first = run(root)
    second = subprocess.run(["cp", "-R", root, f"{root}-again"], check=True) and run(f"{root}-again")
    assert first.stdout == second.stdout
    package(root, "x")
    third = run(root)
    namespaces = {json.loads(result.stdout)["documentNamespace"] for result in (first, third)}
    assert len(namespaces) == 2


@pytest.fixture(scope="module")
def valid(tmp_path_factory):
    return document(make(tmp_path_factory.mktemp("root")))


def at(found, path):
    for step in path:
        found = found[step]
    return found


@pytest.mark.parametrize("path, value", [
    (["spdxVersion"], "SPDX-2.2"),
    (["dataLicense"], "MIT"),
    (["documentNamespace"], "https://example.org/#a"),
    (["creationInfo", "created"], "2026-01-01 00:00:00"),
    (["creationInfo", "creators"], []),
    (["creationInfo", "creators", 0], "scripts/bom"),
    (["packages", 3, "SPDXID"], "SPDXRef-a+b"),
    (["packages", 3, "SPDXID"], "SPDXRef-Image"),
    (["packages", 3, "filesAnalyzed"], True),
    (["packages", 3, "licenseDeclared"], "GPL-2.0-only AND"),
    (["packages", 3, "licenseDeclared"], "GPL 2"),
    (["packages", 3, "licenseDeclared"], "(MIT"),
    (["packages", 3, "licenseDeclared"], ""),
    (["packages", 3, "supplier"], "Debian"),
    (["packages", 3, "versionInfo"], 3),
    (["packages", 3, "license"], "MIT"),
    (["packages", 3, "externalRefs", 0, "referenceLocator"], "pkg:deb/debian/a b@1"),
    (["packages", 3, "externalRefs", 0, "referenceCategory"], "PACKAGE_MANAGER"),
    (["packages", 2, "checksums", 0, "checksumValue"], "00"),
    (["relationships", 0, "relatedSpdxElement"], "SPDXRef-other"),
    (["relationships", 0, "relationshipType"], "describes"),
    (["relationships", 2], {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                            "relatedSpdxElement": "SPDXRef-Image"}),
    (["relationships"], []),
])
def test_faults_are_noticed(valid, path, value):
    found = deepcopy(valid)
    at(found, path[:-1])[path[-1]] = value
    assert spdx.faults(found) != []


@pytest.mark.parametrize("path", [["SPDXID"], ["creationInfo"], ["packages"], ["packages", 3, "downloadLocation"],
                                  ["packages", 3, "name"], ["relationships", 3]])
def test_what_is_missing_is_noticed(valid, path):
    found = deepcopy(valid)
    del at(found, path[:-1])[path[-1]]
    assert spdx.faults(found) != []
