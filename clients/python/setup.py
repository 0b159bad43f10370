# SPDX-License-Identifier: MIT
"""Adds the library and the program to the package. make builds them from the C sources, in the folder `source` of an
sdist or in the repository. Environment variables:

FRICTIOND_NATIVE=FOLDER     adds the files of this folder instead (scripts/wheel)
FRICTIOND_NATIVE=none       adds neither: the package then looks for the system's library and program
FRICTIOND_PLATFORM=TAG      the wheel's platform tag
"""
import os
import pathlib
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools < 70.1
    from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = next(folder for folder in (HERE / "source", HERE.parents[1]) if (folder / "core/fric.h").exists())
NATIVE = os.environ.get("FRICTIOND_NATIVE")
IS_PURE = NATIVE == "none"


def make(folder):
    """Builds the library and the program into a folder. They use the system's shared libraries."""
    subprocess.run(["make", f"-j{os.cpu_count()}", "MODE=release", "all"], cwd=SOURCES, check=True)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(SOURCES / "build/release/libfrictiond.so", folder / "libfrictiond.so.1")
    shutil.copy(SOURCES / "build/frictiond", folder / "frictiond")


class BuildWithNative(build_py):
    def run(self):
        super().run()
        if IS_PURE or getattr(self, "editable_mode", False):
            return
        folder = pathlib.Path(self.build_lib) / "frictiond/native"
        if NATIVE:
            shutil.copytree(NATIVE, folder, dirs_exist_ok=True)
        else:
            make(folder)


class Wheel(bdist_wheel):
    """One wheel for all Pythons: the library is loaded with ctypes."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = IS_PURE

    def get_tag(self):
        platform = os.environ.get("FRICTIOND_PLATFORM") or super().get_tag()[2]
        return "py3", "none", "any" if IS_PURE else platform


class WithNative(Distribution):
    def has_ext_modules(self):
        return not IS_PURE


setup(cmdclass={"build_py": BuildWithNative, "bdist_wheel": Wheel}, distclass=WithNative)
