"""Queues for simulations: nodes that work, and services that send them requests."""
import heapq
import random
import statistics
from collections.abc import Callable, Generator

# A process yields the times at which it goes on, and returns that of its end.
Process = Generator[float, None, float]


class Node:
    """Cores with one queue, first come, first served."""

    def __init__(self, cores: int) -> None:
        self.free = [0.0] * cores

    def work(self, now: float, time: float) -> float:
        """The end of work that arrives now. It may be called in the order of time only."""
        end = max(now, self.free[0]) + time
        heapq.heapreplace(self.free, end)
        return end


class Load:
    """Requests to services. Each service answers requests as they come, or a group of those that wait at a time."""

    def __init__(
        self, services: int, maximum_group: int, prepare: Callable[[float, int], Process],
        answer: Callable[[float, int, int], Process]
    ) -> None:
        """
        - maximum_group: The largest group; 0 for requests without groups.
        - prepare: What each request does before it waits, by the time and the service.
        - answer: What a group does, by the time, the service and the size of the group.
        """
        self.maximum_group, self.prepare, self.answer = maximum_group, prepare, answer
        self.waiting: list[list[float]] = [[] for _ in range(services)]
        self.is_answering = [False] * services
        self.repeats = False
        self.answers: list[tuple[float, float]] = []
        self.events: list[tuple[float, float, Process]] = []

    def connect(self, connections: int, rounds: int) -> tuple[float, float, float]:
        """The result of connections to each service, of which each sends a request after the answer to the one before. The first
        of the rounds, in which each connection has an answer on average, is left out."""
        self.repeats = True
        for service in range(len(self.waiting)):
            for _ in range(connections):
                self.go_on(self.send(0, service))
        return self.result(rounds * len(self.waiting) * connections, len(self.waiting) * connections)

    def offer(self, rate: float, count: int) -> tuple[float, float, float]:
        """The result of requests at random times, so many a second, without the first third."""
        self.go_on(self.arrivals(rate / 1e6))
        return self.result(count, count // 3)

    def result(self, count: int, skipped: int) -> tuple[float, float, float]:
        """The answers a second, and the milliseconds at the 50th and the 99th percentile."""
        while len(self.answers) < count:
            self.go_on(heapq.heappop(self.events)[2])
        answers = self.answers[skipped:count]
        hundredths = statistics.quantiles((time for _, time in answers), n=100)
        return 1e6 * len(answers) / (answers[-1][0] - answers[0][0]), hundredths[49] / 1e3, hundredths[98] / 1e3

    def go_on(self, process: Process) -> None:
        time = next(process, None)
        if time is not None:
            heapq.heappush(self.events, (time, random.random(), process))

    def arrivals(self, rate: float) -> Process:
        now = 0.0
        while True:
            yield (now := now + random.expovariate(rate))
            self.go_on(self.send(now, random.randrange(len(self.waiting))))

    def send(self, began: float, service: int) -> Process:
        now = yield from self.prepare(began, service)
        if self.maximum_group == 0:
            now = yield from self.answer(now, service, 1)
            return self.finish([began], now, service)
        self.waiting[service].append(began)
        if self.is_answering[service]:
            return now
        self.is_answering[service] = True
        while group := self.waiting[service][: self.maximum_group]:
            del self.waiting[service][: self.maximum_group]
            now = yield from self.answer(now, service, len(group))
            self.finish(group, now, service)
        self.is_answering[service] = False
        return now

    def finish(self, group: list[float], now: float, service: int) -> float:
        for began in group:
            self.answers.append((now, now - began))
            if self.repeats:
                self.go_on(self.send(now, service))
        return now
