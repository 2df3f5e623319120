"""The parts of the wheel that follow from the program inside: its version and its platform."""

import pathlib
import subprocess
import sysconfig

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel

PROGRAM = pathlib.Path(__file__).parent / "src" / "till_iap" / "bin" / "till"


class PlatformDistribution(Distribution):
    """A distribution for one platform, as one with an extension module is."""

    def has_ext_modules(self):
        return True


class PlatformWheel(bdist_wheel):
    """A wheel for any Python 3 of this platform: it has a program, and no extension module."""

    def get_tag(self):
        return "py3", "none", sysconfig.get_platform().replace("-", "_").replace(".", "_")


if not PROGRAM.exists():
    raise SystemExit(f"{PROGRAM} is missing. Run Scripts/wheel.sh, which puts the program there.")
version = subprocess.run([PROGRAM, "--version"], check=True, capture_output=True, text=True).stdout.strip()
setup(version=version, distclass=PlatformDistribution, cmdclass={"bdist_wheel": PlatformWheel})
