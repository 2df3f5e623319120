"""Prints the allocations of a service for a request, of which it sends many, one after the other over one connection.

    count.py URL PATH FILE

FILE has the number of allocations of the process until now (allocations.c). The median of several rounds counts, because what the
service does at times of its own allocates, too.
"""
import http.client
import statistics
import struct
import sys
import urllib.parse

ROUNDS, REQUESTS = 9, 2_000

url, path, file = sys.argv[1:]
connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=10)


def allocations() -> int:
    with open(file, "rb") as counter:
        return struct.unpack("=Q", counter.read())[0]


def send(requests: int) -> None:
    for _ in range(requests):
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        if answer.status not in (200, 204):
            sys.exit(f"{path} answers with {answer.status}.")


# The first requests of a connection make what the later ones use again.
send(REQUESTS)
counts = []
for _ in range(ROUNDS):
    before = allocations()
    send(REQUESTS)
    counts.append((allocations() - before) / REQUESTS)
print(round(statistics.median(counts)))
