// Buys at both local stores, and follows the purchases through Till and the back end. Run it with ../with-till.sh.

import assert from "node:assert/strict";
import { createHmac, createPrivateKey, sign } from "node:crypto";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { server } from "./server.mjs";

const { PORT, TILL_URL, TILL_STORE_URL, TILL_PLAY_URL, TILL_SANDBOX_KEY, TILL_WEBHOOK_SECRET } = process.env;

after(() => {
  server.close();
  server.closeAllConnections();
});

async function call(method, url, token, body) {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const response = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, body: text && JSON.parse(text) };
}

const garden = (method, path, token, body) => call(method, `http://127.0.0.1:${PORT}${path}`, token, body);
const appStore = (path, body) => call("POST", `${TILL_STORE_URL}/sandbox/v1/${path}`, TILL_SANDBOX_KEY, body);
const play = (path, body) => call("POST", `${TILL_PLAY_URL}/sandbox/v1/${path}`, TILL_SANDBOX_KEY, body);

async function logIn(name, password) {
  const { token } = (await garden("POST", "/sessions", undefined, { name, password })).body;
  // The app may ask Till itself, with the same token.
  const { appAccountToken } = (await call("PUT", `${TILL_URL}/v1/me/account-token`, token)).body;
  return { token, appAccountToken };
}

const logInAlice = () => logIn("alice", "correct horse");

const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

function tokenOf(claims) {
  const content = `${encode({ alg: "EdDSA" })}.${encode(claims)}`;
  const key = createPrivateKey({ key: JSON.parse(process.env.SIGNING_KEY), format: "jwk" });
  return `${content}.${sign(null, Buffer.from(content), key).toString("base64url")}`;
}

async function items(token) {
  const { body } = await garden("GET", "/items", token);
  return body.items.map(({ collection, number }) => `${collection} ${number}`).sort();
}

async function activity(token) {
  const { body } = await garden("GET", "/activity", token);
  return body.map(({ type, data }) => `${type} ${data.productId ?? ""}`.trim());
}

async function eventually(read, expected) {
  for (let attempt = 0; attempt < 2400; attempt++) {
    if (JSON.stringify(await read()) === JSON.stringify(expected)) return;
    await pause(50);
  }
  assert.deepEqual(await read(), expected);
}

async function deliver(id, timestamp, content, secret = TILL_WEBHOOK_SECRET) {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${content}`).digest("base64");
  const headers = { "webhook-id": id, "webhook-timestamp": String(timestamp), "webhook-signature": `v1,${signature}` };
  return (await fetch(`http://127.0.0.1:${PORT}/hooks`, { method: "POST", headers, body: content })).status;
}

test("a customer buys at both stores, and is refunded at one", async () => {
  const alice = await logInAlice();
  assert.deepEqual(await items(alice.token), []);

  const gate = await appStore("purchases", { account: "alice", productId: "garden.gate", appAccountToken: alice.appAccountToken });
  const { signedTransaction, transactionId } = gate.body;
  const redeemed = await garden("POST", "/purchases", alice.token, { signedTransaction });
  assert.equal(redeemed.status, 200, JSON.stringify(redeemed.body));
  assert.equal(redeemed.body.transactions[0].mayFinish, true);

  const plus = await play("subscriptions", {
    account: "alice", packageName: "com.example.garden", productId: "garden.plus.monthly", obfuscatedAccountId: alice.appAccountToken,
  });
  const { purchaseToken } = plus.body;
  assert.equal((await garden("POST", "/purchases", alice.token, { purchaseToken })).status, 200);
  assert.deepEqual(await items(alice.token), ["gate 1", "plus 1"]);
  await eventually(() => activity(alice.token), ["product.purchased garden.gate", "subscription.purchased garden.plus.monthly"]);

  await appStore(`transactions/${transactionId}/refund`, {});
  await eventually(() => items(alice.token), ["plus 1"]);
  await eventually(async () => (await activity(alice.token)).at(-1), "purchase.refunded garden.gate");
});

test("a purchase belongs to the user of its account token", async () => {
  const [alice, bob] = [await logInAlice(), await logIn("bob", "battery staple")];
  const seeds = await appStore("purchases", { account: "alice", productId: "garden.seeds", appAccountToken: alice.appAccountToken });
  const refused = await garden("POST", "/purchases", bob.token, { signedTransaction: seeds.body.signedTransaction });
  assert.deepEqual([refused.status, refused.body.code], [409, "appAccountTokenMismatch"]);
});

test("a user logs in", async () => {
  const [head, claims, signature] = (await logInAlice()).token.split(".");
  const bob = { ...JSON.parse(Buffer.from(claims, "base64url")), sub: "bob" };
  const forged = `${head}.${encode(bob)}.${signature}`;
  const now = Math.floor(Date.now() / 1000);
  const right = { iss: process.env.ISSUER, aud: process.env.AUDIENCE, sub: "alice", exp: now + 60 };
  assert.equal((await garden("GET", "/items", tokenOf(right))).status, 200);
  const wrong = [{ ...right, exp: now - 1 }, { ...right, iss: "https://other.example" }, { ...right, aud: "other" }];
  for (const token of [undefined, "x", forged, ...wrong.map(tokenOf)]) assert.equal((await garden("GET", "/items", token)).status, 401);
  for (const name of ["alice", "nobody"])
    assert.equal((await garden("POST", "/sessions", undefined, { name, password: "wrong horse" })).status, 401);
});

test("a webhook is signed, new, and counts once", async () => {
  const { token } = await logInAlice();
  const user = { issuer: process.env.ISSUER, name: "alice" };
  const content = JSON.stringify({ type: "item.given", timestamp: "2027-01-31T12:00:00Z", data: { number: 99, user } });
  const given = async () => (await activity(token)).filter((each) => each === "item.given").length;
  const now = Math.floor(Date.now() / 1000);
  assert.equal(await deliver("msg_1", now, content, "whsec_c2VjcmV0IHNlY3JldCBzZWNyZXQ="), 401);
  assert.equal(await deliver("msg_1", now - 600, content), 401);
  assert.equal(await given(), 0);
  assert.equal(await deliver("msg_1", now, content), 204);
  assert.equal(await deliver("msg_1", now + 1, content), 204);
  assert.equal(await given(), 1);
});
