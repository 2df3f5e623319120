"""Buys at both local stores, and follows the purchases through Till and the back end. Run it with ../with-till.sh."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import jwt
import pytest
import uvicorn
from standardwebhooks.webhooks import Webhook

from main import app, passwords

garden = httpx.Client(base_url=f"http://127.0.0.1:{os.environ['PORT']}")
sandbox = {"Authorization": f"Bearer {os.environ['TILL_SANDBOX_KEY']}"}
app_store = httpx.Client(base_url=os.environ["TILL_STORE_URL"] + "/sandbox/v1", headers=sandbox)
play = httpx.Client(base_url=os.environ["TILL_PLAY_URL"] + "/sandbox/v1", headers=sandbox)


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    """The back end, at the port to which Till sends webhooks."""
    server = uvicorn.Server(uvicorn.Config(app, port=int(os.environ["PORT"]), log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    eventually(lambda: server.started, True)
    yield
    server.should_exit = True
    thread.join()


class Customer:
    """A customer who is logged in."""

    def __init__(self, name: str) -> None:
        session = garden.post("/sessions", json={"name": name, "password": passwords[name]}).json()
        self.token = session["token"]
        self.headers = {"Authorization": f"Bearer {self.token}"}
        # The app may ask Till itself, with the same token.
        answer = httpx.put(os.environ["TILL_URL"] + "/v1/me/account-token", headers=self.headers).json()
        self.account_token = answer["appAccountToken"]

    def redeem(self, **purchase: str) -> httpx.Response:
        return garden.post("/purchases", json=purchase, headers=self.headers)

    def items(self) -> list[str]:
        items = garden.get("/items", headers=self.headers).json()["items"]
        return sorted(f"{item['collection']} {item['number']}" for item in items)

    def activity(self) -> list[str]:
        activity = garden.get("/activity", headers=self.headers).json()
        return [f"{each['type']} {each['data'].get('productId', '')}".strip() for each in activity]


def eventually(read: Callable[[], Any], expected: Any) -> None:
    end = time.monotonic() + 120
    while read() != expected and time.monotonic() < end:
        time.sleep(0.05)
    assert read() == expected


def deliver(identifier: str, content: str, at: datetime, secret: str = os.environ["TILL_WEBHOOK_SECRET"]) -> int:
    headers = {
        "webhook-id": identifier,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign(identifier, at, content),
    }
    return garden.post("/hooks", content=content, headers=headers).status_code


def test_a_customer_buys_at_both_stores_and_is_refunded_at_one() -> None:
    alice = Customer("alice")
    assert alice.items() == []

    sale = {"account": "alice", "productId": "garden.gate", "appAccountToken": alice.account_token}
    gate = app_store.post("/purchases", json=sale).json()
    redeemed = alice.redeem(signedTransaction=gate["signedTransaction"])
    assert redeemed.status_code == 200, redeemed.text
    assert redeemed.json()["transactions"][0]["mayFinish"]

    sale = {"account": "alice", "productId": "garden.plus.monthly", "obfuscatedAccountId": alice.account_token}
    plus = play.post("/subscriptions", json=sale | {"packageName": "com.example.garden"}).json()
    assert alice.redeem(purchaseToken=plus["purchaseToken"]).status_code == 200
    assert alice.items() == ["gate 1", "plus 1"]
    eventually(alice.activity, ["product.purchased garden.gate", "subscription.purchased garden.plus.monthly"])

    app_store.post(f"/transactions/{gate['transactionId']}/refund", json={}).raise_for_status()
    eventually(alice.items, ["plus 1"])
    eventually(lambda: alice.activity()[-1], "purchase.refunded garden.gate")


def test_a_purchase_belongs_to_the_user_of_its_account_token() -> None:
    alice, bob = Customer("alice"), Customer("bob")
    sale = {"account": "alice", "productId": "garden.seeds", "appAccountToken": alice.account_token}
    seeds = app_store.post("/purchases", json=sale).json()
    refused = bob.redeem(signedTransaction=seeds["signedTransaction"])
    assert (refused.status_code, refused.json()["code"]) == (409, "appAccountTokenMismatch")


def test_a_user_logs_in() -> None:
    head, _, signature = Customer("alice").token.split(".")
    _, claims, _ = Customer("bob").token.split(".")
    assert garden.get("/items").status_code == 401
    now = int(time.time())
    right = {"iss": os.environ["ISSUER"], "aud": os.environ["AUDIENCE"], "sub": "alice", "exp": now + 60}
    wrong = [right | {"exp": now - 1}, right | {"iss": "https://other.example"}, right | {"aud": "other"}]
    signing_key = jwt.PyJWK(json.loads(os.environ["SIGNING_KEY"]))
    alice = {"Authorization": f"Bearer {jwt.encode(right, signing_key, 'EdDSA')}"}
    assert garden.get("/items", headers=alice).status_code == 200
    signed = [jwt.encode(each, signing_key, "EdDSA") for each in wrong]
    for token in ["x", f"{head}.{claims}.{signature}", *signed]:
        assert garden.get("/items", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    for name in ["alice", "nobody"]:
        assert garden.post("/sessions", json={"name": name, "password": "wrong horse"}).status_code == 401


def test_a_webhook_is_signed_new_and_counts_once() -> None:
    alice = Customer("alice")
    user = {"issuer": os.environ["ISSUER"], "name": "alice"}
    content = json.dumps({
        "type": "item.given", "timestamp": "2027-01-31T12:00:00Z", "data": {"number": 99, "user": user}})
    now = datetime.now(UTC)
    assert deliver("msg_1", content, now, "whsec_c2VjcmV0IHNlY3JldCBzZWNyZXQ=") == 401
    assert deliver("msg_1", content, now - timedelta(minutes=10)) == 401
    assert "item.given" not in alice.activity()
    assert deliver("msg_1", content, now) == 204
    assert deliver("msg_1", content, now + timedelta(seconds=1)) == 204
    assert alice.activity().count("item.given") == 1
