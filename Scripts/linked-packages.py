#!/usr/bin/env python3
"""Lists the Debian packages of the shared libraries that a program loads, and further packages, one a line.

    linked-packages.py PROGRAM [ROOT [PACKAGE …]]     the versions are those that are installed in ROOT, "/" by default
"""

import os
import re
import subprocess
import sys


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"linked-packages: `{' '.join(command)}` has failed: {done.stderr.strip()}")
    return done.stdout


def owner(library):
    """The package of a file; None for a file of no package, such as a library of the Swift toolchain."""
    real = os.path.realpath(library)
    # Packages name their files from before and after the merge of /lib into /usr/lib.
    for path in (real, real.removeprefix("/usr"), library):
        done = subprocess.run(["dpkg-query", "--search", path], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    return None


program, root, *others = [*sys.argv[1:], "/"] if len(sys.argv) == 2 else sys.argv[1:]
libraries = output("ldd", program)
missing = re.findall(r"^\s*(\S+) => not found", libraries, re.MULTILINE)
if missing:
    sys.exit(f"linked-packages: {program} needs {', '.join(missing)}. Run `Scripts/requirements.sh`.")
packages = {owner(path) for path in re.findall(r"(/\S+) \(0x", libraries)} - {None} | set(others)
print(output("dpkg-query", f"--admindir={root.rstrip('/')}/var/lib/dpkg", "--show",
             "--showformat=${Package} ${Version} ${Architecture}\n", *sorted(packages)), end="")
