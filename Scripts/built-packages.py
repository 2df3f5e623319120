#!/usr/bin/env python3
"""Writes the arguments with which swiftc uses the packages that Till's build has compiled, so that nothing is compiled twice.

  Scripts/built-packages.py BUILD CONFIGURATION FOLDER MODULE …
BUILD is the folder .build after `swift build --build-tests`, and CONFIGURATION is release or debug. Of the packages' MODULEs and what
they import, FOLDER/compile gets the arguments of a compilation, and FOLDER/link all objects that do not belong to Till.
"""

import json
import pathlib
import re
import sys

build, configuration, folder = (pathlib.Path(argument) for argument in sys.argv[1:4])
modules = set(sys.argv[4:])

compile_arguments = ["-I", str(build.absolute() / configuration / "Modules")]
for text in re.findall(r"^ *args: (\[.*\])$", (build / f"{configuration}.yaml").read_text(), re.MULTILINE):
    arguments = json.loads(text)
    if "-emit-module" in arguments and arguments[arguments.index("-module-name") + 1] in modules:
        # Clang's arguments, each after -Xcc: the maps of C modules, and the folders of their headers.
        clang = [value for option, value in zip(arguments, arguments[1:]) if option == "-Xcc"]
        for value, following in zip(clang, [*clang[1:], ""]):
            if value.startswith("-fmodule-map-file="):
                compile_arguments += ["-Xcc", value]
            elif value == "-I":
                compile_arguments += ["-Xcc", "-I", "-Xcc", following]

manifest = (build.parent / "Package.swift").read_text()
own = {name.replace("-", "_") for name in re.findall(r'[tT]arget\(\s*name: "([\w-]+)"', manifest)}
objects = []
for line in (build / configuration / "tillPackageTests.product" / "Objects.LinkFileList").read_text().splitlines():
    path = line.strip("'")
    target = re.search(r"/(\w+)\.build/", path)
    if target and target[1] not in own and not target[1].startswith("tillPackage"):
        objects.append(path)

for name, arguments in [("compile", compile_arguments), ("link", objects)]:
    (folder / name).write_text("".join(f'"{argument}"\n' for argument in arguments))
