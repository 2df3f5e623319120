#!/usr/bin/env python3
"""Writes the arguments with which swiftc uses packages that are compiled already, so that none is compiled twice.

  Scripts/built-packages.py TILL MORE FOLDER MODULE …
TILL is .build/release or .build/debug after `swift build --build-tests`, and MORE such a folder of a build of other packages. Of the
packages' MODULEs and what they import, FOLDER/compile gets the arguments of a compilation, and FOLDER/link all objects of Till's build
that do not belong to Till, and those of MORE that Till's build does not have.
"""

import json
import pathlib
import re
import sys

till, more, folder = (pathlib.Path(argument).absolute() for argument in sys.argv[1:4])
modules = set(sys.argv[4:])

manifest = (till.parent.parent / "Package.swift").read_text()
own = {name.replace("-", "_") for name in re.findall(r'[tT]arget\(\s*name: "([\w-]+)"', manifest)}
objects = []
linked = set()
for line in (till / "tillPackageTests.product" / "Objects.LinkFileList").read_text().splitlines():
    path = line.strip("'")
    target = re.search(r"/(\w+)\.build/", path)
    if target and target[1] not in own and not target[1].startswith("tillPackage"):
        linked.add(target[1])
        objects.append(path)
for path in sorted(more.glob("*.build/**/*.o")):
    if path.relative_to(more).parts[0].removesuffix(".build") not in linked:
        objects.append(path)

# An older build of Till can have left modules of the others.
compile_arguments = ["-I", str(more / "Modules"), "-I", str(till / "Modules")]
for build, names in [(till, modules & linked), (more, modules - linked)]:
    for text in re.findall(r"^ *args: (\[.*\])$", (build.parent / f"{build.name}.yaml").read_text(), re.MULTILINE):
        arguments = json.loads(text)
        if "-emit-module" in arguments and arguments[arguments.index("-module-name") + 1] in names:
            # Clang's arguments, each after -Xcc: the maps of C modules, and the folders of their headers.
            clang = [value for option, value in zip(arguments, arguments[1:]) if option == "-Xcc"]
            for value, following in zip(clang, [*clang[1:], ""]):
                if value.startswith("-fmodule-map-file="):
                    compile_arguments += ["-Xcc", value]
                elif value == "-I":
                    compile_arguments += ["-Xcc", "-I", "-Xcc", following]

for name, arguments in [("compile", compile_arguments), ("link", objects)]:
    (folder / name).write_text("".join(f'"{argument}"\n' for argument in arguments))
