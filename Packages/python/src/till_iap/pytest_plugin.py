"""Fixtures of pytest: each test has a store, a Play and a service of its own."""

import pathlib
import uuid
from collections.abc import Callable, Iterator

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
def till_processes(
    tmp_path_factory: pytest.TempPathFactory, till_catalog: pathlib.Path | None
) -> Iterator[Callable[[str], Process]]:
    """The processes of this worker by command, `store` and `play`, each started for the first test that needs it."""
    started: dict[str, Process] = {}

    def process(command: str) -> Process:
        if command not in started:
            folder = tmp_path_factory.mktemp(f"till-{command}")
            started[command] = Process(folder, till_catalog, [command, "serve", "--port", "0"])
        return started[command]

    yield process
    for each in started.values():
        each.stop()


@pytest.fixture
def till_store(till_processes: Callable[[str], Process]) -> Iterator[Store]:
    """A named App Store with a clock of its own, in the process of this worker."""
    process = till_processes("store")
    store = Store(f"{process.url}/stores/{uuid.uuid4().hex}", process)
    yield store
    store.delete()


@pytest.fixture
def till_play(till_processes: Callable[[str], Process]) -> Iterator[Play]:
    """A named Google Play with a clock of its own, in the process of this worker."""
    process = till_processes("play")
    play = Play(f"{process.url}/stores/{uuid.uuid4().hex}", process)
    yield play
    play.delete()


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
        ["serve", "--store", "--play", "--port", "0", "--play-port", "0", "--allow-reset", *till_service_options])
    yield Service(process, process.printed("Google Play: "))
    process.stop()
