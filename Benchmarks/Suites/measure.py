"""Runs test suites at the same time against one process of `till store`, each with a named store, for `make bench-suites`.

    measure.py TILL SUITES

Each suite uses the same names of accounts, is notified at an address of its own, and fails if it sees anything of another suite. The
program fails if a suite does, or if all suites together take longer than the limit.
"""
import http.client
import http.server
import json
import os
import pathlib
import socketserver
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

# In seconds, for all suites.
LIMIT = 60
KEY = "the-sandbox-key-of-the-benchmark"
BUNDLE = "com.example.garden"
MONTHLY, GATE, SEEDS = "garden.premium.monthly", "garden.gate", "garden.seeds"
ROOT = pathlib.Path(__file__).parents[2]
till, suites = os.path.realpath(sys.argv[1]), int(sys.argv[2])


class Receiver(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """The developer's servers of all suites. It counts the notifications to each path."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self):
        self.lock, self.counts = threading.Lock(), {}
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            self.server.counts[self.path] = self.server.counts.get(self.path, 0) + 1
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


class Suite:
    """A test suite over one connection."""

    def __init__(self, name, store, receiver):
        self.name, self.store, self.receiver = name, store, receiver

    def send(self, method, path, body=None):
        self.connection.request(
            method, f"/stores/{self.name}/sandbox/v1/{path}", None if body is None else json.dumps(body),
            {"Authorization": f"Bearer {KEY}"})
        answer = self.connection.getresponse()
        text = answer.read()
        assert answer.status < 300, f"{self.name}: {method} {path}: {answer.status} {text.decode()}"
        return json.loads(text) if text else None

    def buy(self, product, account):
        return self.send("POST", "purchases", {"account": account, "productId": product})["transactionId"]

    def sales(self, account):
        return [sale["productId"] for sale in self.send("GET", f"accounts/{account}/transactions")["transactions"]]

    def expect(self, found, expected):
        assert found == expected, f"{self.name}: {found} in place of {expected}"

    def run(self):
        self.connection = http.client.HTTPConnection(self.store.hostname, self.store.port, timeout=LIMIT)
        began = time.monotonic()
        self.send("GET", "time")
        self.first = time.monotonic() - began
        path = f"/{self.name}"
        self.send("PATCH", "settings", {"notificationsURL": f"http://127.0.0.1:{self.receiver.server_port}{path}"})
        self.buy(MONTHLY, "alice")
        gate = self.buy(GATE, "bob")
        self.buy(SEEDS, "carol")
        # A year of one customer. The clock waits for the notification of each renewal.
        for _ in range(12):
            self.expect([event["kind"] for event in self.send(
                "POST", "time/advance", {"by": "31d", "account": "alice"})["events"]], ["renewed"])
        self.expect(self.sales("alice"), [MONTHLY] * 13)
        self.send("POST", "time/advance", {"by": "31d"})
        self.send("POST", f"transactions/{gate}/refund", {"reason": "issue"})
        self.expect((self.sales("bob"), self.sales("carol")), ([GATE], [SEEDS]))
        self.expect(len(self.send("GET", "accounts/alice/subscriptions")["subscriptions"]), 1)
        assert self.send("GET", "accounts/alice/receipt")["receipt"]
        sent = len(self.send("GET", "notifications")["notifications"])
        while self.receiver.counts.get(path, 0) < sent:
            assert time.monotonic() - began < LIMIT, f"{self.name}: a notification has not arrived"
            time.sleep(0.01)
        self.expect(self.receiver.counts[path], sent)
        self.expect(self.send("POST", "reset")["sales"], 15)
        self.expect(self.sales("alice"), [])
        self.send("DELETE", "store")
        self.connection.close()


def main():
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [till, "store", "--port", "0", "--products", str(ROOT / "Tests/Support/Garden.storekit"), "--bundle-id",
             BUNDLE, "--log-level", "error"],
            stdout=subprocess.PIPE, env=dict(os.environ, TILL_DATA=folder, TILL_SANDBOX_KEY=KEY), text=True)
        try:
            url = urllib.parse.urlsplit(process.stdout.readline().split()[-1])
            receiver = Receiver()
            all_suites = [Suite(f"suite-{number}", url, receiver) for number in range(suites)]
            failures = []

            def run(suite):
                try:
                    suite.run()
                except Exception as error:
                    failures.append(f"{suite.name}: {error!r}")

            threads = [threading.Thread(target=run, args=(suite,)) for suite in all_suites]
            began = time.monotonic()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            seconds = time.monotonic() - began
            peak = next(
                line.split()[1] for line in open(f"/proc/{process.pid}/status") if line.startswith("VmHWM"))
        finally:
            process.terminate()
            process.wait()
    if failures:
        sys.exit(f"{len(failures)} of {suites} suites failed, the first with: {failures[0]}")
    first = statistics.median(suite.first for suite in all_suites) * 1000
    print(f"test suites at once: {suites} in {seconds:.1f} s, with {sum(receiver.counts.values())} notifications")
    print(f"a first request, which makes a store, among them: {first:.0f} ms in the median")
    print(f"the memory of the store's process: {int(peak) // 1024} MB at most")
    if seconds >= LIMIT:
        sys.exit(f"The limit is {LIMIT} s.")


main()
