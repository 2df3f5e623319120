"""Running servers of Till: local stores, and a service beside them."""

import json
import os
import pathlib
import secrets
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any

from till_iap.program import PROGRAM

# JSON, whose fields the documents of the API describe.
JSON = Any


class Refusal(Exception):
    """A problem document: the answer to a request that a server has refused."""

    def __init__(self, status: int, problem: Mapping[str, JSON]) -> None:
        super().__init__(f"{status} {problem.get('code', '')}: {problem.get('detail', problem.get('title', ''))}")
        self.status = status
        self.problem = problem


class Process:
    """A server of Till with a data directory of its own, and without the caller's settings."""

    def __init__(self, data: pathlib.Path, catalog: pathlib.Path | None, command: list[str]) -> None:
        self.data = data
        self.sandbox_key = secrets.token_hex(16)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("TILL_")}
        self.environment |= {"TILL_DATA": str(data), "TILL_SANDBOX_KEY": self.sandbox_key}
        if catalog is not None:
            self.environment["TILL_CATALOG"] = str(catalog)
        self.name = f"till {command[0]}"
        self.log = data / "server.log"
        data.mkdir(parents=True, exist_ok=True)
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [PROGRAM, *command, "--log-level", "warning"],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        self.url = self.printed("Listening on ")

    def printed(self, start: str) -> str:
        """The rest of the next line of the output, which begins so."""
        output = self.process.stdout
        line = output.readline() if output is not None else ""
        if not line.startswith(start):
            self.stop()
            raise RuntimeError(f"`{self.name}` has not started:\n{line}{self.log.read_text()}")
        return line.removeprefix(start).strip()

    def run(self, *arguments: str, **variables: str) -> JSON:
        """The JSON that a command prints over the same data."""
        done = subprocess.run(
            [PROGRAM, *arguments, "--json"], env=self.environment | variables, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"`till {' '.join(arguments)}` has failed:\n{done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


class Client:
    """The HTTP API of a server, called with one key."""

    def __init__(self, url: str, key: str) -> None:
        self.url = url
        self.key = key

    def call(self, method: str, path: str, body: JSON = None, **query: str) -> JSON:
        """The answer to a request; None for an answer without a body.

        Raises `Refusal`.
        """
        address = self.url + path + ("?" + urllib.parse.urlencode(query) if query else "")
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address, content, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                answer = response.read()
        except urllib.error.HTTPError as error:
            with error:
                answer = error.read()
            try:
                problem = json.loads(answer)
            except ValueError:
                problem = {"title": answer.decode(errors="replace")}
            raise Refusal(error.code, problem) from None
        return json.loads(answer) if answer else None


class LocalStore(Client):
    """A local store of either kind, and its clock."""

    def advance(self, by: str, **fields: JSON) -> JSON:
        """Moves the clock by `1mo`, `3d` or `90s`, of all accounts or of `account`."""
        return self.call("POST", "/sandbox/v1/time/advance", {"by": by} | fields)

    def now(self) -> str:
        return str(self.call("GET", "/sandbox/v1/time")["now"])

    def delete(self) -> None:
        """Deletes a named store."""
        self.call("DELETE", "/sandbox/v1/store")


class Store(LocalStore):
    """A local App Store, played with the sandbox key. Apple's libraries take `url` as their base address."""

    def __init__(self, url: str, process: Process) -> None:
        super().__init__(url, process.sandbox_key)
        keys = process.data / "store" / "keys"
        # The roots that a verifier trusts in place of Apple's.
        self.roots = [keys / "transactions-root.cer", keys / "receipts-root.cer"]

    def buy(self, product: str, account: str, **fields: JSON) -> JSON:
        return self.call("POST", "/sandbox/v1/purchases", {"productId": product, "account": account} | fields)

    def sales(self, account: str) -> list[JSON]:
        """The purchases and periods of an account, oldest first."""
        path = f"/sandbox/v1/accounts/{urllib.parse.quote(account, safe='')}/transactions"
        return list(self.call("GET", path)["transactions"])

    def refund(self, transaction: str, **fields: JSON) -> JSON:
        return self.call("POST", f"/sandbox/v1/transactions/{transaction}/refund", fields)


class Play(LocalStore):
    """A local Google Play, played with the sandbox key. Google's clients take `url` as their endpoint."""

    def __init__(self, url: str, process: Process) -> None:
        super().__init__(url, process.sandbox_key)

    def buy(self, product: str, account: str, package: str, **fields: JSON) -> JSON:
        """Buys a one-time product."""
        return self.call("POST", "/sandbox/v1/purchases", self.sale(product, account, package) | fields)

    def subscribe(self, product: str, account: str, package: str, **fields: JSON) -> JSON:
        return self.call("POST", "/sandbox/v1/subscriptions", self.sale(product, account, package) | fields)

    def subscriptions(self, account: str) -> list[JSON]:
        """The subscriptions of an account, newest first."""
        return list(self.call("GET", "/sandbox/v1/subscriptions", account=account)["subscriptions"])

    def change(self, subscription: int, action: str, **fields: JSON) -> JSON:
        """Acts as the customer or as Google: `cancel`, `declinePayments`, `refund` and the other actions."""
        return self.call("POST", f"/sandbox/v1/subscriptions/{subscription}/{action}", fields)

    @staticmethod
    def sale(product: str, account: str, package: str) -> dict[str, JSON]:
        return {"productId": product, "account": account, "packageName": package}


class Service(Client):
    """A service, called with the API key of a back end, and the stores beside it."""

    def __init__(self, process: Process, play: str) -> None:
        # All scopes, because a suite is every back end in turn.
        super().__init__(process.url, process.run("keys", "make", "tests", "--scope", "all")["key"])
        self.process = process
        self.store = Store(process.url, process)
        self.play = Play(play, process)

    def buy(self, product: str, user: str, store: str = "appStore", **options: str) -> JSON:
        """Plays the user's app: it buys at the store (or `play`), and redeems the purchase."""
        named = [text for name, value in options.items() for text in (f"--{name.replace('_', '-')}", value)]
        return self.process.run(
            "buy", product, "--user", user, "--store", store, "--server", self.url, *named, TILL_API_KEY=self.key)

    def items(self, user: str) -> list[JSON]:
        return list(self.about(user, "items")["items"])

    def subscriptions(self, user: str) -> list[JSON]:
        return list(self.about(user, "subscriptions")["subscriptions"])

    def about(self, user: str, list_name: str) -> JSON:
        return self.call("GET", f"/v1/users/{urllib.parse.quote(user, safe='')}/{list_name}")

    def advance(self, by: str) -> None:
        """Moves the clocks of both stores, which the service follows."""
        self.store.advance(by)
        self.play.advance(by)

    def reset(self) -> None:
        """Empties both stores and the service. Its keys, catalog and webhooks stay, and the clocks are the machine's again."""
        # The stores first: what they have sold is not notified any more.
        self.store.call("POST", "/sandbox/v1/reset")
        self.play.call("POST", "/sandbox/v1/reset")
        self.store.call("POST", "/sandbox/v1/service/reset")

    def eventually(self, condition: Callable[[], bool], seconds: float = 30) -> None:
        """Waits until the stores have notified the service and the condition holds.

        Raises `TimeoutError`.
        """
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"the condition does not hold after {seconds} s")
            time.sleep(0.05)
