"""Fixtures of pytest: each test has a store, a Play and a service of its own."""

import pathlib
import uuid
from collections.abc import Iterator

import pytest

from till_iap.servers import Play, Process, Service, Store


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("till_catalog", "The folder of the catalog; none for Till's sample catalog.", type="paths")


@pytest.fixture(scope="session")
def till_catalog(pytestconfig: pytest.Config) -> pathlib.Path | None:
    """The folder of the catalog. Override this fixture to make the folder in a test suite."""
    folders: list[pathlib.Path] = pytestconfig.getini("till_catalog")
    return folders[0] if folders else None


@pytest.fixture(scope="session")
def till_store_process(
    tmp_path_factory: pytest.TempPathFactory, till_catalog: pathlib.Path | None
) -> Iterator[Process]:
    """The process of this worker's stores."""
    process = Process(tmp_path_factory.mktemp("till-store"), till_catalog, ["store", "serve", "--port", "0"])
    yield process
    process.stop()


@pytest.fixture
def till_store(till_store_process: Process) -> Iterator[Store]:
    """A named store with a clock of its own, in the process of this worker."""
    store = Store(f"{till_store_process.url}/stores/{uuid.uuid4().hex}", till_store_process)
    yield store
    store.call("DELETE", "/sandbox/v1/store")


@pytest.fixture
def till_play(tmp_path_factory: pytest.TempPathFactory, till_catalog: pathlib.Path | None) -> Iterator[Play]:
    """A local Google Play with a clock of its own."""
    process = Process(tmp_path_factory.mktemp("till-play"), till_catalog, ["play", "serve", "--port", "0"])
    yield Play(process.url, process)
    process.stop()


@pytest.fixture(scope="session")
def till_service_options() -> list[str]:
    """Further options of `till serve`, such as `--webhooks`. Override this fixture to set some."""
    return []


@pytest.fixture
def till_service(
    tmp_path_factory: pytest.TempPathFactory, till_catalog: pathlib.Path | None, till_service_options: list[str]
) -> Iterator[Service]:
    """A service with a ledger of its own, and both stores beside it."""
    process = Process(
        tmp_path_factory.mktemp("till-service"), till_catalog,
        ["serve", "--store", "--play", "--port", "0", "--play-port", "0", *till_service_options])
    yield Service(process, process.printed("Google Play: "))
    process.stop()
