# SPDX-License-Identifier: MIT
"""The command frictiond, also as `python -m frictiond`: runs the program of the service."""
import os
import sys

import frictiond
from frictiond import _native

USAGE = """usage: frictiond serve [OPTION...]    runs the service (options: frictiond serve --help)
       frictiond check [FILE]         checks a batch against differences
       frictiond health [URL]         whether a service is ready
       frictiond --version            version of this package
Without `serve`, all words are passed on to the program."""


def main() -> None:
    """Replaces this process with the program."""
    words = sys.argv[1:]
    if words[:1] in (["--help"], ["-h"], []):
        print(USAGE)
        return
    if words == ["--version"]:
        print(f"frictiond {frictiond.__version__}")
        return
    try:
        path = _native.program()
    except FileNotFoundError as error:
        sys.exit(f"frictiond: {error}")
    os.execv(path, [path, *(words[1:] if words[0] == "serve" else words)])


if __name__ == "__main__":
    main()
