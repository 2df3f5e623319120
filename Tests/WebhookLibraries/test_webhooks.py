"""The webhooks of a service beside local stores, read with the libraries of their specifications, unmodified: `standardwebhooks` and
`cloudevents`.

    TILL=.build/release/till python -m unittest discover Tests/WebhookLibraries

Alice buys at the App Store and bob at Google Play. Both renew and are refunded, and the team gives alice an item. An endpoint for each
format and filter receives what happens.
"""

import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

from cloudevents.core.bindings.http import HTTPMessage, from_structured_event
from standardwebhooks import Webhook, WebhookVerificationError

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Packages" / "python" / "src"))
from till_iap import servers  # noqa: E402

TILL = pathlib.Path(os.environ["TILL"])
servers.PROGRAM = TILL
BUNDLE = "com.example.garden"
MONTHLY = "garden.premium.monthly"
# The endpoints by their paths.
ENDPOINTS = {
    "standard": {"format": "standard"},
    "cloudevents": {"format": "cloudevents"},
    "slack": {"format": "slack"},
    "refunds": {"format": "standard", "types": ["purchase.refunded"]},
    "garden": {"format": "cloudevents", "app": BUNDLE},
}
STORY = ["subscription.purchased", "subscription.renewed", "purchase.refunded"]


class Receiver:
    """The team's back end: keeps the headers and the body of each message, by the path and the identifier."""

    def __init__(self):
        self.messages = {}
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.messages.setdefault(self.path[1:], {})[headers["webhook-id"]] = (headers, body)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class WebhookTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        folder = pathlib.Path(cls.folder.name)
        cls.receiver = Receiver()
        cls.addClassCleanup(cls.receiver.stop)
        products = ROOT / "Tests" / "Support" / "Garden.storekit"
        subprocess.run(
            [TILL, "init", "--storekit", products, "--bundle-id", BUNDLE, folder / "Garden"], check=True,
            stdout=subprocess.DEVNULL)
        process = servers.Process(
            folder / "data", folder / "Garden",
            ["serve", "--store", "--play", "--port", "0", "--play-port", "0", "--webhooks",
             "--webhook-private-addresses"])
        cls.addClassCleanup(process.stop)
        cls.service = servers.Service(process, process.printed("Google Play: "))
        cls.secrets = {}
        cls.webhooks = {}
        for name, fields in ENDPOINTS.items():
            made = cls.service.call("POST", "/v1/webhooks", {"url": f"{cls.receiver.url}/{name}"} | fields)
            cls.secrets[name], cls.webhooks[name] = made["secret"], made["webhookId"]
        cls.play()

    @classmethod
    def play(cls):
        """Plays the story, keeps the first message about each user, and has all messages sent again at the end."""
        service = cls.service
        cls.first = {}
        for user, store in (("alice", "appStore"), ("bob", "play")):
            service.buy(MONTHLY, user=user, store=store)
            cls.wait(user, 1)
            (cls.first[user],) = cls.events(user)
        service.advance("32d")
        for user in ("alice", "bob"):
            cls.wait(user, 2)
        service.store.refund(service.store.sales("alice")[-1]["transactionId"])
        service.play.change(1, "refund")
        for user in ("alice", "bob"):
            cls.wait(user, 3)
        item = {name: cls.first["alice"]["data"]["items"][0][name] for name in ("collection", "number")}
        service.call("POST", "/v1/users/alice/grants", {"item": item, "reason": "a <!channel> prize"})
        service.eventually(lambda: "item.given" in [event["type"] for event in cls.events("alice")])
        cls.settle()
        for user in ("alice", "bob"):
            service.call("POST", f"/v1/webhooks/{cls.webhooks['standard']}/deliveries/replay", {"user": user})
        cls.settle()

    @classmethod
    def settle(cls):
        """Waits until every message is delivered."""
        for identifier in cls.webhooks.values():
            path = f"/v1/webhooks/{identifier}/deliveries"
            cls.service.eventually(lambda: not cls.service.call("GET", path, state="pending")["deliveries"])

    @classmethod
    def wait(cls, user, count):
        """Waits for the messages about the first steps of the story."""
        cls.service.eventually(lambda: cls.steps(user) == STORY[:count])

    @classmethod
    def events(cls, user, name="standard"):
        """The messages about a user, in the order of the user's history."""
        events = [json.loads(body) for _, body in list(cls.receiver.messages.get(name, {}).values())]
        return sorted(
            (event for event in events if event["data"]["user"]["name"] == user),
            key=lambda event: event["data"]["number"])

    @classmethod
    def steps(cls, user, name="standard"):
        return [event["type"] for event in cls.events(user, name) if event["type"] in STORY]

    def test_each_message_has_a_signature_that_standardwebhooks_verifies(self):
        for name, secret in self.secrets.items():
            self.assertTrue(self.receiver.messages[name], name)
            for headers, body in self.receiver.messages[name].values():
                self.assertEqual(Webhook(secret).verify(body, headers), json.loads(body))
                with self.assertRaises(WebhookVerificationError):
                    Webhook(secret).verify(body + b" ", headers)
                with self.assertRaises(WebhookVerificationError):
                    Webhook(self.secrets["slack" if name != "slack" else "standard"]).verify(body, headers)

    def test_the_types_say_what_happened_at_both_stores(self):
        for user in ("alice", "bob"):
            self.assertEqual(self.steps(user), STORY)
            self.assertEqual(self.steps(user, "cloudevents"), STORY)
        self.assertEqual(self.events("alice")[-1]["type"], "item.given")

    def test_a_refund_has_its_amount(self):
        for user in ("alice", "bob"):
            (refund,) = [event for event in self.events(user) if event["type"] == "purchase.refunded"]
            self.assertGreater(refund["data"]["refundedAmount"], 0)
            self.assertRegex(refund["data"]["currency"], "^[A-Z]{3}$")

    def test_a_message_carries_the_state_that_the_api_answers(self):
        for user in ("alice", "bob"):
            data = self.first[user]["data"]
            self.assertEqual([item["productId"] for item in data["items"]], [MONTHLY])
            self.assertEqual([subscription["state"] for subscription in data["subscriptions"]], ["active"])
            # Messages that are sent again have the state of then.
            for event in self.events(user):
                self.assertEqual(event["data"]["items"], self.service.items(user))
                self.assertEqual(event["data"]["subscriptions"], self.service.subscriptions(user))

    def test_cloudevents_reads_each_event(self):
        for name in ("cloudevents", "garden"):
            for headers, body in self.receiver.messages[name].values():
                self.assertEqual(headers["content-type"], "application/cloudevents+json")
                event = from_structured_event(HTTPMessage(headers=headers, body=body))
                self.assertEqual(event.get_specversion(), "1.0")
                self.assertEqual(event.get_id(), headers["webhook-id"])
                self.assertEqual(event.get_datacontenttype(), "application/json")
                self.assertIsNotNone(event.get_time())
                data = event.get_data()
                self.assertEqual(event.get_source(), f"/till/{data['app']}" if "app" in data else "/till")
                self.assertEqual(event.get_subject(), data.get("transactionId") or data.get("grantId"))
                self.assertIn("items", data)

    def test_slack_gets_a_sentence_without_its_control_characters(self):
        texts = []
        for headers, body in self.receiver.messages["slack"].values():
            message = json.loads(body)
            texts.append(message.pop("text"))
            self.assertEqual(message, {"mrkdwn": False, "unfurl_links": False, "unfurl_media": False})
            self.assertNotRegex(texts[-1], "[<>]")
        self.assertEqual(len(texts), len(self.receiver.messages["standard"]))
        self.assertTrue(any(text.startswith("“bob”: ") and "(purchase.refunded" in text for text in texts), texts)
        self.assertTrue(any("a &lt;!channel&gt; prize" in text for text in texts), texts)

    def test_a_filter_lets_its_types_and_its_app_through(self):
        types = {json.loads(body)["type"] for _, body in self.receiver.messages["refunds"].values()}
        self.assertEqual(types, {"purchase.refunded"})
        apps = {json.loads(body)["data"]["app"] for _, body in self.receiver.messages["garden"].values()}
        self.assertEqual(apps, {BUNDLE})

    def test_a_test_message_is_verified_and_read(self):
        for name in ENDPOINTS:
            before = set(self.receiver.messages[name])
            sent = self.service.call("POST", f"/v1/webhooks/{self.webhooks[name]}/test")
            self.assertEqual(sent["status"], 204)
            (identifier,) = set(self.receiver.messages[name]) - before
            headers, body = self.receiver.messages[name].pop(identifier)
            message = Webhook(self.secrets[name]).verify(body, headers)
            self.assertIn("test", message["text" if name == "slack" else "type"])
            if name in ("cloudevents", "garden"):
                self.assertEqual(from_structured_event(HTTPMessage(headers=headers, body=body)).get_type(), "test")


if __name__ == "__main__":
    unittest.main()
