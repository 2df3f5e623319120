"""The demonstration shop (`till demo`) that all tests use: the real binary, with a year of sales."""

import atexit
import functools
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
TILL = os.environ.get("TILL", str(ROOT / ".build/release/till"))
PASSWORD = "correct horse battery"


class Shop:
    """A running demonstration, and the command line over its data."""

    def __init__(self, seed=1):
        self.log = tempfile.TemporaryFile("w+")
        started = time.monotonic()
        self.process = subprocess.Popen(
            [TILL, "demo", "--json", "--seed", str(seed), "--port", "0"], stdout=subprocess.PIPE, stderr=self.log, text=True)
        atexit.register(self.stop)
        text = ""
        while True:
            line = self.process.stdout.readline()
            if not line:
                self.log.seek(0)
                raise RuntimeError(f"`till demo` did not start: {text}{self.log.read()}")
            text += line
            try:
                answer = json.loads(text)
                break
            except ValueError:
                continue
        self.seconds = time.monotonic() - started
        # Nobody reads more, and the pipe must not fill.
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        self.url = answer["url"].removesuffix("/console")
        self.name, self.password = answer["name"], answer["password"]
        # The passwords of its people, by name: the administrator `demo`, and one person named after each other role.
        self.passwords = {person["name"]: person["password"] for person in answer["people"]}
        self.webhook = answer["webhook"]
        self.key = answer.get("key")
        self.data, self.catalog = answer["data"], answer["catalog"]

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()

    def till(self, *arguments):
        """Runs a command over the data of the shop, and returns its JSON."""
        result = subprocess.run(
            [TILL, *arguments, "--data", self.data, "--catalog", self.catalog, "--json"], capture_output=True, text=True)
        if result.returncode:
            raise RuntimeError(f"`till {' '.join(arguments)}` failed: {result.stdout}{result.stderr}")
        return json.loads(result.stdout) if result.stdout.strip() else None

    def post(self, path, body):
        """Sends a request of a back end."""
        request = urllib.request.Request(
            self.url + path, data=json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def invite(self, name, role):
        """Adds a person, and returns the one-time link."""
        link = self.till("console", "add-user", name, "--role", role, "--url", self.url)["link"]
        return link


@functools.cache
def shop():
    """The shop of all tests."""
    return Shop()
