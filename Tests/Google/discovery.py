"""The schemas of Google's discovery document, as the client ships it, and a check of values against them."""

import json
import pathlib
import re

import googleapiclient

DOCUMENT = json.loads(
    (pathlib.Path(googleapiclient.__file__).parent / "discovery_cache/documents/androidpublisher.v3.json").read_text()
)
DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3}|\.\d{6}|\.\d{9})?Z")
TYPES = {"string": str, "boolean": bool, "integer": int, "number": (int, float)}


def methods(resource=None, prefix=""):
    """The methods of the document by their identifiers without `androidpublisher.`."""
    resource = resource or DOCUMENT
    found = {prefix + name: method for name, method in resource.get("methods", {}).items()}
    for name, inner in resource.get("resources", {}).items():
        found.update(methods(inner, f"{prefix}{name}."))
    return found


def check(value, schema, path="answer"):
    """Raises AssertionError for a value that does not have the form of a schema."""
    if "$ref" in schema:
        schema = DOCUMENT["schemas"][schema["$ref"]]
    kind = schema["type"]
    if kind == "object" and "properties" in schema:
        assert isinstance(value, dict), f"{path} is no object"
        for name, member in value.items():
            assert name in schema["properties"], f"{path}.{name} is unknown to Google"
            check(member, schema["properties"][name], f"{path}.{name}")
    elif kind == "object":
        assert isinstance(value, dict), f"{path} is no object"
    elif kind == "array":
        assert isinstance(value, list), f"{path} is no array"
        assert value, f"{path} is empty: Google leaves it out"
        for index, element in enumerate(value):
            check(element, schema["items"], f"{path}[{index}]")
    else:
        assert isinstance(value, TYPES[kind]), f"{path} is no {kind}: {value!r}"
        assert isinstance(value, bool) == (kind == "boolean"), f"{path}: {value!r}"
        if schema.get("format") == "int64":
            assert re.fullmatch(r"-?\d+", value), f"{path} has no digits: {value!r}"
        if schema.get("format") == "google-datetime":
            assert DATE_TIME.fullmatch(value), f"{path} is no date-time: {value!r}"
        if "enum" in schema:
            assert value in schema["enum"], f"{path} is no value of the enumeration: {value!r}"
