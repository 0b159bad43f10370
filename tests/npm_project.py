"""A clean project with the npm package, as `make npm` builds it, and the examples that use it."""
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]


def npm_project(folder):
    """Makes the project in an empty folder. The network is not used."""
    packed = subprocess.run([ROOT / "scripts/npm", folder], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    (folder / "package.json").write_text('{"private": true, "type": "module"}\n')
    subprocess.run(["npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", packed], cwd=folder,
                   stdout=subprocess.DEVNULL, check=True)
    for name in ("tile.mjs", "tile.html", "routes.mts"):
        shutil.copy(ROOT / "examples/javascript" / name, folder)
    return folder
