#!/usr/bin/env python3
"""Writes a CycloneDX bill of materials of the program: its Swift packages, Swift's libraries, and the Debian packages of its libraries.

    sbom.py NAME VERSION SWIFT-VERSION CHECKOUTS PACKAGES

CHECKOUTS is a file with the names of the Swift packages, whose versions are in Package.resolved, and PACKAGES one with lines "package
version architecture". The date comes from SOURCE_DATE_EPOCH.
"""

import datetime
import json
import os
import sys
import urllib.parse
import uuid


def component(name, version, purl, **more):
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl} | more


def swift_package(pin):
    state = pin["state"]
    version = state.get("version", state["revision"])
    place = pin["location"].removeprefix("https://").removesuffix(".git")
    return component(
        pin["identity"], version, f"pkg:swift/{place}@{version}",
        externalReferences=[{"type": "vcs", "url": pin["location"], "comment": state["revision"]}])


def debian_package(line):
    name, version, architecture = line.split()
    purl = f"pkg:deb/debian/{name}@{urllib.parse.quote(version, safe='')}?arch={architecture}"
    return component(name, version, purl)


name, version, swift, checkouts, packages = sys.argv[1:]
try:
    with open("Package.resolved") as file:
        pins = {pin["identity"]: pin for pin in json.load(file)["pins"]}
except FileNotFoundError:
    sys.exit("sbom: Package.resolved does not exist. Run `swift package resolve`.")
with open(checkouts) as file:
    # An identity is the name of the folder in small letters.
    identities = file.read().lower().split()
if unknown := set(identities) - pins.keys():
    sys.exit(f"sbom: Package.resolved does not name {', '.join(sorted(unknown))}. Run `make build`.")
with open(packages) as file:
    debian = [debian_package(line) for line in file]
toolchain = component("swift", swift, f"pkg:swift/github.com/swiftlang/swift@{swift}")
components = sorted([toolchain, *(swift_package(pins[each]) for each in identities), *debian], key=lambda each: each["bom-ref"])
subject = {"type": "application", "bom-ref": f"pkg:generic/{name}@{version}", "name": name, "version": version}
date = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
bill = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.5",
    "version": 1,
    "metadata": {
        "timestamp": date.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "component": subject | {"licenses": [{"license": {"id": "Apache-2.0"}}]},
    },
    "components": components,
    "dependencies": [{"ref": subject["bom-ref"], "dependsOn": [each["bom-ref"] for each in components]}],
}
# The number follows from the content, so that the same bill has the same bytes.
bill["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bill, sort_keys=True))}"
json.dump(bill, sys.stdout, indent=2, sort_keys=True)
print()
