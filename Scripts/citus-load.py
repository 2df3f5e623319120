#!/usr/bin/env python3
"""Redeems transactions over a service whose database nodes may be killed, and compares the answers with what users own afterwards.

    citus-load.py URL KEY TRANSACTIONS COUNT

Every transaction is sent by two users at the same time, and again until it is answered. One of them owns it then, and the other is
refused. A transaction that was answered as granted and is not in the history of its user, or is in both, is an error.
"""
import http.client, json, random, sys, threading, time
from urllib.parse import urlparse

url, key, path, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
with open(path) as file:
    transactions = [next(file).strip() for _ in range(count)]
USERS = 200
owners = [set() for _ in transactions]
refused = [0] * count
failures, lock, retries = [], threading.Lock(), 0
position = iter(range(count))
deadline = time.monotonic() + 300


def call(connection, method, path, body=None):
    """The status and the JSON of an answer; None for a lost connection, which the caller opens again."""
    try:
        connection.request(method, path, body and json.dumps(body), {
            "Authorization": "Bearer " + key, "Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")
    except (OSError, http.client.HTTPException):
        connection.close()
        return None, None


def redeem(connection, number, user):
    global retries
    while time.monotonic() < deadline:
        status, answer = call(
            connection, "POST", f"/v1/users/{user}/transactions", {"signedTransaction": transactions[number]})
        if status == 200:
            owners[number].add(user)
            return
        if status is not None and status < 500 and status != 429:
            if answer.get("code") != "ownedByAnotherUser":
                failures.append(f"transaction {number} for {user}: {status} {answer}")
            refused[number] += 1
            return
        with lock:
            retries += 1
        time.sleep(random.random() / 5)
    failures.append(f"transaction {number} for {user} was not answered")


def work(other):
    connection = http.client.HTTPConnection(urlparse(url).netloc, timeout=60)
    while True:
        with lock:
            number = next(position, None)
        if number is None:
            return
        # Two threads of a pair send the same transaction.
        pair = threading.Thread(target=redeem, args=(other, number, f"k{(number + 1) % USERS}"))
        pair.start()
        redeem(connection, number, f"k{number % USERS}")
        pair.join()


began = time.monotonic()
threads = [
    threading.Thread(target=work, args=(http.client.HTTPConnection(urlparse(url).netloc, timeout=60),)) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
passed = time.monotonic() - began

connection = http.client.HTTPConnection(urlparse(url).netloc, timeout=60)
owned = 0
for user in (f"k{number}" for number in range(USERS)):
    cursor = ""
    while cursor is not None:
        status, page = call(connection, "GET", f"/v1/users/{user}/transactions?pageSize=100{cursor}")
        if status != 200:
            failures.append(f"the history of {user}: {status}")
            break
        owned += len(page["transactions"])
        cursor = f"&cursor={page['nextCursor']}" if page.get("nextCursor") else None
for number in range(count):
    if len(owners[number]) != 1 or refused[number] != 1:
        failures.append(f"transaction {number}: granted to {sorted(owners[number])}, refused {refused[number]} times")
if owned != count:
    failures.append(f"users own {owned} transactions of {count}")
print(f"{count} transactions of two users each in {passed:.0f} s, {retries} answers repeated, {owned} owned")
for failure in failures[:10]:
    print(failure, file=sys.stderr)
sys.exit(1 if failures else 0)
