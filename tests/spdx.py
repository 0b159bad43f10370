#!/usr/bin/env python3
"""Checks a document of SPDX 2.3 in JSON:  tests/spdx.py FILE    (prints each fault)

The members, words and forms that the specification (chapters 6, 7 and 11, annexes D and F) allows for what scripts/bom
writes, and that references lead somewhere. Anything else is a fault, too.
"""
import json
import re
import sys
from datetime import datetime

TEXT = (str, lambda text: text.strip() != "" and "\n" not in text)


def matching(pattern):
    return (str, lambda text: re.fullmatch(pattern, text) is not None)


def one_of(*words):
    return (str, lambda text: text in words)


def is_time(text):
    try:
        datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return False
    return True


def is_license(text):
    """An expression of annex D, without exceptions and references, which are not written."""
    if text in ("NOASSERTION", "NONE"):
        return True
    tokens = re.findall(r"[()]|[^\s()]+", text)
    python = []
    for token in tokens:
        if token in ("(", ")"):
            python.append(token)
        elif token in ("AND", "OR"):
            python.append({"AND": "&", "OR": "|"}[token])
        elif re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*\+?", token):
            python.append("1")
        else:
            return False
    try:
        compile(" ".join(python), "expression", "eval")
    except SyntaxError:
        return False
    return bool(python) and python[0] != "&"


REFERENCE = r"SPDXRef-[A-Za-z0-9.-]+"
AGENT = r"NOASSERTION|(Person|Organization): [^()]+( \([^()\s]+@[^()\s]+\))?"
URL = r"[a-z][a-z0-9+.-]*:[^\s#]+"
PURL = r"pkg:[a-z]+(/[A-Za-z0-9.%_-]+)+@[A-Za-z0-9.%_~:-]+(\?[a-z]+=[A-Za-z0-9.%_-]+(&[a-z]+=[A-Za-z0-9.%_-]+)*)?"
LICENSE = (str, is_license)

CHECKSUM = {"algorithm": (one_of("SHA256"), True), "checksumValue": (matching("[0-9a-f]{64}"), True)}
EXTERNAL = {
    "referenceCategory": (one_of("PACKAGE-MANAGER"), True),
    "referenceType": (one_of("purl"), True),
    "referenceLocator": (matching(PURL), True),
}
# member: (what it must be, whether it is required). A list of one element: an array of it.
PACKAGE = {
    "SPDXID": (matching(REFERENCE), True),
    "name": (TEXT, True),
    "versionInfo": (TEXT, False),
    "primaryPackagePurpose": (one_of("APPLICATION", "CONTAINER"), False),
    "filesAnalyzed": ((bool, lambda value: value is False), True),
    "downloadLocation": (matching("NOASSERTION|NONE|" + URL), True),
    "licenseConcluded": (LICENSE, True),
    "licenseDeclared": (LICENSE, True),
    "copyrightText": (TEXT, True),
    "supplier": (matching(AGENT), False),
    "homepage": (matching(URL.replace("#", "")), False),
    "comment": (TEXT, False),
    "sourceInfo": (TEXT, False),
    "checksums": ([CHECKSUM], False),
    "externalRefs": ([EXTERNAL], False),
}
RELATIONSHIP = {
    "spdxElementId": (matching(REFERENCE), True),
    "relationshipType": (one_of("DESCRIBES", "CONTAINS", "DESCENDANT_OF", "DYNAMIC_LINK"), True),
    "relatedSpdxElement": (matching(REFERENCE), True),
}
DOCUMENT = {
    "spdxVersion": (one_of("SPDX-2.3"), True),
    "dataLicense": (one_of("CC0-1.0"), True),
    "SPDXID": (one_of("SPDXRef-DOCUMENT"), True),
    "name": (TEXT, True),
    "documentNamespace": (matching(URL), True),
    "creationInfo": ({
        "created": ((str, is_time), True),
        "creators": ([matching(r"Tool: \S+-[0-9.]+")], True),
    }, True),
    "packages": ([PACKAGE], True),
    "relationships": ([RELATIONSHIP], True),
}


def faults_of(value, rule, pointer=""):
    if isinstance(rule, dict):
        if not isinstance(value, dict):
            return [f"{pointer}: not an object"]
        faults = [f"{pointer}/{name}: missing" for name, (_, required) in rule.items() if required and name not in value]
        faults += [f"{pointer}/{name}: unknown" for name in value if name not in rule]
        for name in value.keys() & rule.keys():
            faults += faults_of(value[name], rule[name][0], f"{pointer}/{name}")
        return faults
    if isinstance(rule, list):
        if not isinstance(value, list) or not value:
            return [f"{pointer}: not an array with elements"]
        return [fault for i, element in enumerate(value) for fault in faults_of(element, rule[0], f"{pointer}/{i}")]
    kind, holds = rule
    return [] if type(value) is kind and holds(value) else [f"{pointer}: {value!r}"]


def faults(document):
    found = faults_of(document, DOCUMENT)
    if found:
        return found
    ids = [package["SPDXID"] for package in document["packages"]]
    found += [f"{ref}: twice" for ref in sorted(set(ids)) if ids.count(ref) > 1]
    known = {*ids, "SPDXRef-DOCUMENT"}
    seen = set()
    for relationship in document["relationships"]:
        ends = relationship["spdxElementId"], relationship["relatedSpdxElement"]
        found += [f"{end}: unknown in a relationship" for end in ends if end not in known]
        if (*ends, relationship["relationshipType"]) in seen:
            found.append(f"{ends}: twice")
        seen.add((*ends, relationship["relationshipType"]))
    described = [to for origin, to, kind in seen if kind == "DESCRIBES" and origin == "SPDXRef-DOCUMENT"]
    if len(described) != 1:
        found.append(f"DESCRIBES {described}")
    reached = {to for _, to, _ in seen}
    found += [f"{ref}: in no relationship" for ref in ids if ref not in reached]
    return found


def unique_members(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError(f"a member occurs twice: {names}")
    return dict(pairs)


def load(text):
    return json.loads(text, object_pairs_hook=unique_members)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        found = faults(load(file.read()))
    print("\n".join(found))
    sys.exit(bool(found))
