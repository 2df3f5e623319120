"""Predicts the rates of a distributed ledger from the measured costs of single statements, for `make bench-nodes`.

A statement takes time of its coordinator, crosses the network, and takes time of each worker that it reaches. The model is first
compared with measured rates. Times are in microseconds, rates a second.
"""
import random
from collections import Counter
from typing import NamedTuple

from queues import Load, Node, Process


class Cost(NamedTuple):
    coordinator: float
    worker: float


def cost(plain: float, citus: float, commit: float = 0) -> Cost:
    """The cost of a statement by its rates on two cores. A worker takes what one PostgreSQL takes, less the commit, and the
    coordinator takes the rest. What pgbench itself takes is counted at the worker."""
    return Cost(2e6 / citus - 2e6 / plain, 2e6 / plain - commit)


# Measured: Documentation/DistributedPostgreSQL.md, "Rates", the single statements.
LOOK_UP = cost(35_500, 6_000)
ITEMS = cost(19_700, 1_675)
# Six commits: seven statements with a commit each and four reads, less the redemption of the same statements with one commit.
COMMIT = (4 * 2e6 / 35_500 + 6 * 2e6 / 4_470 + 2e6 / 5_600 - 2e6 / 1_324) / 6
UPDATE = cost(5_600, 2_135, COMMIT)
ROW = cost(4_470, 1_950, COMMIT)
ARRAYS = cost(5_200, 800, COMMIT)
# A command to one of several shards: the read over 8 shards sends 16. Assumed: the coordinator takes half.
COMMAND = Cost(2e6 / 218 / 32, 2e6 / 218 / 32)
# The same of an insertion: eight rows less one, and less the two-phase commit of two workers in place of one commit.
COPY = Cost((2e6 / 495 - 2e6 / 800 - 4 * COMMIT) / 14, (2e6 / 495 - 2e6 / 800 - 4 * COMMIT) / 14)
# Measured: Documentation/Benchmarks.md, "Serve", PostgreSQL. With the service, the load generator takes the rest of two cores.
REDEMPTION, REDEMPTION_IN_SERVICE, COLD_ITEMS = 242, 2e6 / 2_199 - 242, 218
MAXIMUM_GROUP = 128  # Sources/Ledger/Commits/GroupCommits.swift

# Assumed, not measured.
CORES = 8  # of each node
ROUND_TRIP = 200  # between two machines
SHARDS = 4  # of each worker, and at least 32 in all
SMALL_TABLE = Cost(LOOK_UP.coordinator, 0)  # a read of a table that each node has, the API keys for example
MESSAGE = 50  # what BEGIN, PREPARE or COMMIT PREPARED to one worker takes of the coordinator
SERVICES = 16  # for each coordinator


class Statement(NamedTuple):
    place: str  # of its rows: by "key", "user" or "token"; "all" shards; "none"
    one: Cost  # if it reaches at most one shard
    command: Cost = COMMAND  # for each shard, if it reaches several
    base: float = 0  # at the coordinator besides


class Request(NamedTuple):
    statements: list[Statement]
    plain: float  # its time in one PostgreSQL
    maximum_group: int = 0  # of a write; a read has no group
    authentication: float = SMALL_TABLE.coordinator


def redemption(of_all_shards: int) -> Request:
    """A redemption by Sources/Entitlements/Records, of whose reads and updates so many reach all shards."""
    # parked_transaction, parked_original, user_name, claim, original, expected_transaction; user, redeemed_transaction, team_grant.
    reads = [Statement("key", LOOK_UP)] * 6 + [Statement("user", LOOK_UP)] * 3 + [Statement("user", UPDATE)]
    reads = [read._replace(place="all") for read in reads[:of_all_shards]] + reads[of_all_shards:]
    # The measured program kept the owner of a purchase in a table of its own, original, beside claim; redeemed_transaction, audit. Besides, app and webhook_endpoint are read.
    insertions = [Statement(place, ARRAYS, COPY, ARRAYS.coordinator) for place in ["key"] * 2 + ["user"] * 2]
    small = [Statement("none", SMALL_TABLE)] * 2
    return Request(small + reads + insertions + [Statement("token", ROW)], REDEMPTION, MAXIMUM_GROUP)


REPEATED = Request([Statement("user", LOOK_UP)], 2 * LOOK_UP.worker)
COLD = Request([Statement("key", LOOK_UP), Statement("user", ITEMS)], COLD_ITEMS)


class Cluster(NamedTuple):
    coordinators: list[Node]
    workers: list[Node]  # none: one PostgreSQL
    shards: int
    round_trip: float = ROUND_TRIP

    def load(self, request: Request, services: int, before: float = 0) -> Load:
        """The load of services, of which each has one of the coordinators. `before` is the time that a request takes of the
        coordinator's cores before it reaches the database."""
        def coordinator(service: int) -> Node:
            return self.coordinators[service % len(self.coordinators)]

        def prepare(now: float, service: int) -> Process:
            if before:
                yield (now := coordinator(service).work(now, before))
            if self.workers:
                now = yield from self.reach(now, coordinator(service), request.authentication, {})
            return now

        def answer(now: float, service: int, group: int) -> Process:
            return self.answer(now, coordinator(service), request, group)

        return Load(services * len(self.coordinators), request.maximum_group, prepare, answer)

    def reach(self, now: float, coordinator: Node, time: float, work: dict[int, float]) -> Process:
        """A round trip to the coordinator, and from there to workers at the same time."""
        yield (now := now + self.round_trip / 2)
        now = coordinator.work(now, time)
        if work:
            yield (now := now + self.round_trip / 2)
            now = max(self.workers[worker].work(now, each) for worker, each in work.items()) + self.round_trip / 2
        yield (now := now + self.round_trip / 2)
        return now

    def answer(self, now: float, coordinator: Node, request: Request, group: int) -> Process:
        """The statements and the commit of a group of requests, each of another user."""
        if not self.workers:
            return (yield from self.reach(now, coordinator, request.plain * group, {}))
        shards = {"all": set(range(self.shards)), "none": set()}
        for place, size in {"key": group, "user": group, "token": 1}.items():
            shards[place] = {random.randrange(self.shards) for _ in range(size)}
        workers = {place: Counter(shard % len(self.workers) for shard in found) for place, found in shards.items()}
        # What further rows take themselves, as in one PostgreSQL.
        rows = request.plain * (group - 1) / len(request.statements)
        for place, one, command, base in request.statements:
            count = len(shards[place])
            time = base + count * command.coordinator if count > 1 else one.coordinator
            share = command.worker + rows / count if count > 1 else one.worker
            work = {worker: each * share for worker, each in workers[place].items()}
            now = yield from self.reach(now, coordinator, time, work)
        if request.maximum_group:
            commit = dict.fromkeys(set().union(*(workers[statement.place] for statement in request.statements)), COMMIT)
            if len(commit) > 1:
                # BEGIN and PREPARE; then the coordinator commits its record.
                now = yield from self.reach(now, coordinator, 2 * len(commit) * MESSAGE, commit)
                now = coordinator.work(now, COMMIT)
            now = yield from self.reach(now, coordinator, len(commit) * MESSAGE, commit)
        return now


def compare() -> None:
    """Prints measured rates beside those of the model, where the nodes, the service and the load generator share two cores."""
    places = ["key"] * 2 + ["user"] * 3 + ["token"]
    statements = [Statement("key", LOOK_UP)] * 3 + [Statement("user", LOOK_UP), Statement("user", UPDATE)]
    simplified = Request(statements + [Statement(place, ROW) for place in places], 0, 1, 0)
    print(f"{'on two shared cores':54}{'measured':>10}{'model':>10}")
    # Measured: Documentation/DistributedPostgreSQL.md, "Rates". All reads and updates of these redemptions reached all shards.
    for name, request, before, services, connections, rates in [
        ("simplified redemptions", simplified, 0, 8, 1, {2: 326}),
        ("redemptions", redemption(10), REDEMPTION_IN_SERVICE, 1, 64, {0: 2_085, 1: 383, 2: 387}),
        # The time of the service is what the first rate leaves for it, so that only the others are predicted.
        ("items, repeated", REPEATED, 2e6 / 4_974 - REPEATED.plain, 1, 64, {0: 4_974, 1: 1_355, 2: 1_717}),
    ]:
        for workers, measured in rates.items():
            node = Node(cores=2)
            load = Cluster([node], [node] * workers, 8, 0).load(request, services, before)
            model = load.connect(connections, 100)[0]
            title = f"{name}, " + (f"coordinator and workers: {workers}" if workers else "one PostgreSQL")
            print(f"{title:54}{measured:>10,}{model:>10,.0f}{model / measured - 1:>+8.0%}")


def predict() -> None:
    """Prints a table of the largest rates of more and more nodes, with p50 and p99 at half of each rate."""
    requests = {
        "redemptions, all shards": (redemption(10), 64),
        "one look-up in all shards": (redemption(1), 64),
        "routed": (redemption(0), 64),
        "items, cold": (COLD, 8),
        "repeated": (REPEATED, 8),
    }
    print("\n| nodes, coordinators | " + " | ".join(requests) + " |\n" + "| --- " * (1 + len(requests)) + "|")
    for nodes, coordinators in [(1, 1), (3, 1), (3, 3), (10, 1), (10, 10), (100, 1), (100, 100)]:
        cells = [f"{nodes}, {coordinators}"]
        for request, connections in requests.values():
            count = SERVICES * coordinators * connections
            rounds = max(10, 160 // connections, 40_000 // count)
            rate, _, _ = spread(nodes, coordinators).load(request, SERVICES).connect(connections, rounds)
            _, p50, p99 = spread(nodes, coordinators).load(request, SERVICES).offer(rate / 2, max(10_000, count))
            cells.append(f"{rate:,.0f} ({p50:,.1f}, {p99:,.1f} ms)")
        print("| " + " | ".join(cells) + " |", flush=True)


def spread(nodes: int, coordinators: int) -> Cluster:
    """One PostgreSQL; a coordinator with workers; or nodes that are both."""
    machines = [Node(CORES) for _ in range(nodes)]
    workers = machines if coordinators > 1 else machines[1:]
    return Cluster(machines[:coordinators], workers, max(32, SHARDS * len(workers)))


if __name__ == "__main__":
    random.seed(37)
    compare()
    predict()
