"""The catalog of the tests: the garden, which all tests of Till use."""

import pathlib
import subprocess

import pytest
from till_iap import PROGRAM

PACKAGE = "com.example.garden"


@pytest.fixture(scope="session")
def till_catalog(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    catalog = tmp_path_factory.mktemp("catalog") / "Garden"
    products = pathlib.Path(__file__).parents[3] / "Tests" / "Support" / "Garden.storekit"
    subprocess.run([PROGRAM, "init", "--storekit", products, "--bundle-id", PACKAGE, catalog], check=True)
    return catalog


@pytest.fixture(scope="session")
def till_service_options() -> list[str]:
    return ["--figures"]
