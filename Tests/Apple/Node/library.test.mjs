// Apple's own app-store-server-library for Node, unmodified, against a running `till store`.
//
//     npm install && TILL=../../../.build/release/till node --test
//
// `npm ci` needs a lock file, which is not kept here: the version in package.json is exact.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { deflateSync } from "node:zlib";

const library = createRequire(import.meta.url)("@apple/app-store-server-library");
const { APIError, APIException, Environment, VerificationException, VerificationStatus } = library;

const root = fileURLToPath(new URL("../../..", import.meta.url));
const till = path.resolve(process.env.TILL ?? path.join(root, ".build/release/till"));
const bundle = "com.example.garden";
const monthly = "garden.basic.monthly";
const folder = mkdtempSync(path.join(tmpdir(), "till-node-"));
const environment = { ...process.env, TILL_DATA: path.join(folder, "data") };

// A developer's server: it keeps the bodies that come.
const bodies = [];
let arrival = () => {};
const receiver = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  bodies.push(JSON.parse(body).signedPayload);
  response.end("{}");
  arrival();
});

let store, client, verifier, key;

before(async () => {
  await new Promise((listening) => receiver.listen(0, "127.0.0.1", listening));
  const products = path.join(root, "Tests/Support/Garden.storekit");
  store = spawn(
    till,
    [
      "store", "--port", "0", "--products", products, "--bundle-id", bundle, "--json", "--log-level", "warning",
      "--notifications-url", `http://127.0.0.1:${receiver.address().port}/apple`,
    ],
    { env: environment, stdio: ["ignore", "pipe", "inherit"] },
  );
  let text = "";
  for await (const part of store.stdout.iterator({ destroyOnReturn: false })) {
    text += part;
    if (text.trimEnd().endsWith("}")) break;
  }
  Object.assign(store, JSON.parse(text));
  const made = spawnSync(till, ["store", "keys", "--json"], { env: environment, encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  const { privateKey, keyId, issuerId } = JSON.parse(made.stdout);
  key = { text: readFileSync(privateKey, "utf8"), keyId, issuerId };
  client = new library.AppStoreServerAPIClient(key.text, keyId, issuerId, bundle, Environment.SANDBOX);
  client.urlBase = store.url;
  verifier = new library.SignedDataVerifier(roots(), false, Environment.SANDBOX, bundle);
});

after(async () => {
  const ended = new Promise((exit) => store.once("exit", exit));
  store.kill();
  assert.equal(await ended, 0);
  receiver.close();
  rmSync(folder, { recursive: true });
});

function roots() {
  return ["transactions", "receipts"].map((chain) => readFileSync(path.join(folder, `data/store/keys/${chain}-root.cer`)));
}

// Plays a customer.
async function sandbox(method, place, body) {
  const answer = await fetch(`${store.url}/sandbox/v1/${place}`, {
    method,
    body: body && JSON.stringify(body),
    headers: { Authorization: `Bearer ${store.sandboxKey}` },
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${place}: ${text}`);
  return text ? JSON.parse(text) : undefined;
}

const buy = (productId, more) => sandbox("POST", "purchases", { account: randomUUID(), productId, ...more });

// The next body that the store has sent.
async function received(matches = () => true) {
  for (;;) {
    // A test that waits too long is ended by the runner.
    const index = bodies.findIndex(matches);
    if (index >= 0) return bodies.splice(index, 1)[0];
    await new Promise((comes) => (arrival = comes));
  }
}

async function refused(error, call) {
  await assert.rejects(call, (thrown) => {
    assert.ok(thrown instanceof APIException, thrown);
    assert.equal(APIError[thrown.apiError], error);
    assert.equal(thrown.httpStatusCode, Math.floor(thrown.apiError / 10000));
    assert.ok(thrown.errorMessage);
    return true;
  });
}

// A black picture.
function png(width, height) {
  const table = Array.from({ length: 256 }, (_, start) => {
    let value = start;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
    return value >>> 0;
  });
  const chunk = (name, content) => {
    const body = Buffer.concat([Buffer.from(name), content]);
    const sum = ~body.reduce((value, byte) => table[(value ^ byte) & 255] ^ (value >>> 8), ~0) >>> 0;
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(content.length);
    check.writeUInt32BE(sum);
    return Buffer.concat([length, body, check]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 8;
  const rows = deflateSync(Buffer.alloc((width + 1) * height));
  const signature = Buffer.from("89504e470d0a1a0a", "hex");
  return Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", rows), chunk("IEND", Buffer.alloc(0))]);
}

const message = { header: "Stay", body: "Much is in bloom." };

async function uploaded() {
  const identifier = randomUUID();
  await client.uploadMessage(identifier, message);
  return identifier;
}

async function realtimeURL() {
  const realtimeURL = "https://example.com/realtime";
  await client.configureRealtimeURL({ realtimeURL });
  return realtimeURL;
}

const extension = { extendByDays: 5, extendReasonCode: 1, requestIdentifier: "garden-1" };
const mass = () => ({
  extendByDays: 5, extendReasonCode: 3, requestIdentifier: randomUUID(), productId: "garden.basic.yearly",
  storefrontCountryCodes: ["USA"],
});

// Each public method of the client, with a test that has an answer and an error.
const calls = {
  async getTransactionInfo() {
    const { transactionId } = await buy("garden.seeds", { quantity: 3 });
    const { signedTransactionInfo } = await client.getTransactionInfo(transactionId);
    const transaction = await verifier.verifyAndDecodeTransaction(signedTransactionInfo);
    assert.deepEqual([transaction.transactionId, transaction.quantity, transaction.price], [transactionId, 3, 2970]);
    await refused("INVALID_TRANSACTION_ID", () => client.getTransactionInfo("abc"));
    await refused("TRANSACTION_ID_NOT_FOUND", () => client.getTransactionInfo("1234"));
  },
  async getAppTransactionInfo() {
    const { transactionId } = await buy("garden.gate");
    const { signedAppTransactionInfo } = await client.getAppTransactionInfo(transactionId);
    assert.equal((await verifier.verifyAndDecodeAppTransaction(signedAppTransactionInfo)).bundleId, bundle);
    await refused("TRANSACTION_ID_NOT_FOUND", () => client.getAppTransactionInfo("1234"));
  },
  async getTransactionHistory() {
    const { transactionId } = await buy("garden.gate");
    for (const version of ["v1", "v2"]) {
      const history = await client.getTransactionHistory(transactionId, null, { productIds: ["garden.gate"] }, version);
      assert.deepEqual([history.signedTransactions.length, history.hasMore, history.bundleId], [1, false, bundle]);
      await verifier.verifyAndDecodeTransaction(history.signedTransactions[0]);
    }
    await refused("INVALID_REQUEST_REVISION", () => client.getTransactionHistory(transactionId, "x", {}, "v2"));
  },
  async getAllSubscriptionStatuses() {
    const { transactionId } = await buy(monthly);
    const statuses = await client.getAllSubscriptionStatuses(transactionId, [library.Status.ACTIVE]);
    const [last] = statuses.data[0].lastTransactions;
    assert.equal(last.status, library.Status.ACTIVE);
    assert.equal((await verifier.verifyAndDecodeRenewalInfo(last.signedRenewalInfo)).autoRenewProductId, monthly);
    await refused("INVALID_STATUS", () => client.getAllSubscriptionStatuses(transactionId, [9]));
  },
  async getRefundHistory() {
    const { transactionId } = await buy("garden.gate");
    await sandbox("POST", `transactions/${transactionId}/refund`, {});
    const history = await client.getRefundHistory(transactionId, null);
    const refunded = await verifier.verifyAndDecodeTransaction(history.signedTransactions[0]);
    assert.deepEqual([refunded.transactionId, refunded.revocationDate > 0], [transactionId, true]);
    await refused("TRANSACTION_ID_NOT_FOUND", () => client.getRefundHistory("1234", null));
  },
  async lookUpOrderId() {
    const account = randomUUID();
    await sandbox("POST", "purchases", { account, productId: "garden.gate" });
    const [sale] = (await sandbox("GET", `accounts/${account}/transactions`)).transactions;
    const found = await client.lookUpOrderId(sale.orderId);
    assert.equal(found.status, library.OrderLookupStatus.VALID);
    assert.equal((await verifier.verifyAndDecodeTransaction(found.signedTransactions[0])).productId, "garden.gate");
    await onDemand("RATE_LIMIT_EXCEEDED", () => client.lookUpOrderId("MNOSUCHORD"));
  },
  async extendSubscriptionRenewalDate() {
    const { originalTransactionId } = await buy("garden.premium.monthly");
    const answer = await client.extendSubscriptionRenewalDate(originalTransactionId, extension);
    assert.deepEqual([answer.success, answer.originalTransactionId], [true, originalTransactionId]);
    const wrong = { ...extension, extendByDays: 91 };
    await refused("INVALID_EXTEND_BY_DAYS", () => client.extendSubscriptionRenewalDate(originalTransactionId, wrong));
  },
  async extendRenewalDateForAllActiveSubscribers() {
    const request = mass();
    assert.equal((await client.extendRenewalDateForAllActiveSubscribers(request)).requestIdentifier, request.requestIdentifier);
    const wrong = { ...request, storefrontCountryCodes: ["XXX"] };
    await refused("INVALID_STOREFRONT_COUNTRY_CODE", () => client.extendRenewalDateForAllActiveSubscribers(wrong));
  },
  async getStatusOfSubscriptionRenewalDateExtensions() {
    const request = mass();
    await client.extendRenewalDateForAllActiveSubscribers(request);
    const ask = (identifier) => client.getStatusOfSubscriptionRenewalDateExtensions(identifier, request.productId);
    const status = await ask(request.requestIdentifier);
    assert.deepEqual([status.complete, status.failedCount], [true, 0]);
    await refused("STATUS_REQUEST_NOT_FOUND", () => ask(randomUUID()));
  },
  async requestTestNotification() {
    const { testNotificationToken } = await client.requestTestNotification();
    assert.ok(testNotificationToken);
    await received(isTest);
    await onDemand("SERVER_NOTIFICATION_URL_NOT_FOUND", () => client.requestTestNotification());
  },
  async getTestNotificationStatus() {
    const { testNotificationToken } = await client.requestTestNotification();
    await received(isTest);
    const status = await client.getTestNotificationStatus(testNotificationToken);
    const told = await verifier.verifyAndDecodeNotification(status.signedPayload);
    assert.equal(told.notificationType, library.NotificationTypeV2.TEST);
    await refused("TEST_NOTIFICATION_NOT_FOUND", () => client.getTestNotificationStatus(`${randomUUID()}_1`));
  },
  async getNotificationHistory() {
    const { transactionId } = await buy("garden.gate");
    const now = (await sandbox("GET", "time")).millisecondsSince1970;
    const request = { startDate: now - 86_400_000, endDate: now + 1000, transactionId };
    const history = await client.getNotificationHistory(null, request);
    assert.equal(history.notificationHistory.length, 1);
    const told = await verifier.verifyAndDecodeNotification(history.notificationHistory[0].signedPayload);
    assert.equal(told.notificationType, library.NotificationTypeV2.ONE_TIME_CHARGE);
    await refused("INVALID_START_DATE", () => client.getNotificationHistory(null, {}));
  },
  async sendConsumptionData() {
    const { transactionId } = await buy("garden.seeds");
    await sandbox("POST", `transactions/${transactionId}/refundRequest`, {});
    const request = {
      customerConsented: true, sampleContentProvided: true, appAccountToken: "", consumptionStatus: 1, platform: 1,
      deliveryStatus: 0, userStatus: 1, accountTenure: 0, playTime: 0, lifetimeDollarsPurchased: 0,
      lifetimeDollarsRefunded: 0, refundPreference: 0,
    };
    await client.sendConsumptionData(transactionId, request);
    await refused("INVALID_CUSTOMER_CONSENTED", () => client.sendConsumptionData(transactionId, {}));
  },
  async sendConsumptionInformation() {
    const { transactionId } = await buy("garden.seeds");
    await sandbox("POST", `transactions/${transactionId}/refundRequest`, {});
    const request = { customerConsented: true, deliveryStatus: "DELIVERED", sampleContentProvided: false };
    await client.sendConsumptionInformation(transactionId, request);
    const wrong = { ...request, customerConsented: false };
    await refused("INVALID_CUSTOMER_CONSENTED", () => client.sendConsumptionInformation(transactionId, wrong));
  },
  async setAppAccountToken() {
    const { transactionId, originalTransactionId } = await buy(monthly);
    const appAccountToken = randomUUID();
    await client.setAppAccountToken(originalTransactionId, { appAccountToken });
    const { signedTransactionInfo } = await client.getTransactionInfo(transactionId);
    assert.equal((await verifier.verifyAndDecodeTransaction(signedTransactionInfo)).appAccountToken, appAccountToken);
    const wrong = { appAccountToken: "one" };
    await refused("INVALID_APP_ACCOUNT_TOKEN_UUID_ERROR", () => client.setAppAccountToken(originalTransactionId, wrong));
  },
  async finishTransaction() {
    const { transactionId } = await buy("garden.seeds");
    await client.finishTransaction(transactionId);
    await refused("TRANSACTION_ID_NOT_FOUND", () => client.finishTransaction("1234"));
  },
  async uploadImage() {
    const identifier = randomUUID();
    await client.uploadImage(identifier, png(3840, 160), "FULL_SIZE");
    await refused("IMAGE_ALREADY_EXISTS", () => client.uploadImage(identifier, png(3840, 160)));
    await refused("INVALID_IMAGE", () => client.uploadImage(randomUUID(), Buffer.from("GIF89a")));
  },
  async getImageList() {
    const identifier = randomUUID();
    await client.uploadImage(identifier, png(1024, 1024), "BULLET_POINT");
    const { imageIdentifiers } = await client.getImageList();
    assert.ok(imageIdentifiers.some((image) => image.imageIdentifier === identifier));
    await onDemand("RATE_LIMIT_EXCEEDED", () => client.getImageList());
  },
  async deleteImage() {
    const identifier = randomUUID();
    await client.uploadImage(identifier, png(3840, 160));
    await client.deleteImage(identifier);
    await refused("IMAGE_NOT_FOUND", () => client.deleteImage(identifier));
  },
  async uploadMessage() {
    const identifier = await uploaded();
    await refused("MESSAGE_ALREADY_EXISTS", () => client.uploadMessage(identifier, message));
  },
  async getMessageList() {
    const identifier = await uploaded();
    const { messageIdentifiers } = await client.getMessageList();
    assert.ok(messageIdentifiers.some((found) => found.messageIdentifier === identifier));
    await onDemand("RATE_LIMIT_EXCEEDED", () => client.getMessageList());
  },
  async deleteMessage() {
    const identifier = await uploaded();
    await client.deleteMessage(identifier);
    await refused("MESSAGE_NOT_FOUND", () => client.deleteMessage(identifier));
  },
  async configureDefaultMessage() {
    const request = { messageIdentifier: await uploaded() };
    await client.configureDefaultMessage(monthly, "ko-KR", request);
    await refused("INVALID_LOCALE", () => client.configureDefaultMessage(monthly, "1", request));
  },
  async getDefaultMessage() {
    const messageIdentifier = await uploaded();
    await client.configureDefaultMessage(monthly, "de-DE", { messageIdentifier });
    assert.equal((await client.getDefaultMessage(monthly, "de-DE")).messageIdentifier, messageIdentifier);
    await refused("DEFAULT_MESSAGE_NOT_FOUND", () => client.getDefaultMessage(monthly, "fr-FR"));
  },
  async deleteDefaultMessage() {
    await client.configureDefaultMessage(monthly, "it-IT", { messageIdentifier: await uploaded() });
    await client.deleteDefaultMessage(monthly, "it-IT");
    await refused("DEFAULT_MESSAGE_NOT_FOUND", () => client.deleteDefaultMessage(monthly, "it-IT"));
  },
  async configureRealtimeURL() {
    await realtimeURL();
    await refused("BAD_REQUEST_REALTIME_URL", () => client.configureRealtimeURL({ realtimeURL: "http://x" }));
  },
  async getRealtimeURL() {
    const url = await realtimeURL();
    assert.equal((await client.getRealtimeURL()).realtimeURL, url);
    await client.deleteRealtimeURL();
    await refused("REALTIME_URL_NOT_FOUND", () => client.getRealtimeURL());
  },
  async deleteRealtimeURL() {
    await realtimeURL();
    await client.deleteRealtimeURL();
    await refused("REALTIME_URL_NOT_FOUND", () => client.deleteRealtimeURL());
  },
  async initiatePerformanceTest() {
    const { originalTransactionId } = await buy(monthly);
    await realtimeURL();
    assert.ok((await client.initiatePerformanceTest({ originalTransactionId })).requestId);
    const wrong = { originalTransactionId: "1234" };
    await refused("INVALID_PERFORMANCE_TEST_REQUEST", () => client.initiatePerformanceTest(wrong));
  },
  async getPerformanceTestResults() {
    const { originalTransactionId } = await buy(monthly);
    const target = await realtimeURL();
    const { requestId } = await client.initiatePerformanceTest({ originalTransactionId });
    assert.equal((await client.getPerformanceTestResults(requestId)).target, target);
    await refused("PERFORMANCE_TEST_RUN_NOT_FOUND", () => client.getPerformanceTestResults(randomUUID()));
  },
};

function claims(signed) {
  return JSON.parse(Buffer.from(signed.split(".")[1], "base64url"));
}

function isTest(signed) {
  return claims(signed).notificationType === "TEST";
}

// Lets the store answer with an error that the call has no way to cause.
async function onDemand(error, call) {
  await sandbox("PATCH", "settings", { serverAPIError: String(APIError[error]) });
  try {
    await refused(error, call);
  } finally {
    await sandbox("PATCH", "settings", { serverAPIError: "" });
  }
}

describe("each method has an answer and an error", { timeout: 60_000 }, () => {
  for (const [name, call] of Object.entries(calls)) test(name, call);
});

test("each public method of the client has a test", () => {
  // Those of TypeScript that are protected or private, which JavaScript does not know.
  const inner = ["constructor", "makeRequest", "makeFetchRequest", "createBearerToken"];
  const methods = Object.getOwnPropertyNames(library.AppStoreServerAPIClient.prototype);
  assert.deepEqual(methods.filter((name) => !inner.includes(name)).sort(), Object.keys(calls).sort());
});

test("each of Apple's errors comes on demand", async () => {
  const errors = Object.keys(APIError).filter((name) => Number.isNaN(Number(name)));
  assert.ok(errors.length >= 87);
  for (const error of errors) await onDemand(error, () => client.getRealtimeURL());
});

test("the verifier reads what the store signs, and refuses what is not the app's", { timeout: 60_000 }, async () => {
  const { transactionId } = await buy(monthly);
  const [last] = (await client.getAllSubscriptionStatuses(transactionId)).data[0].lastTransactions;
  const told = await received((signed) => claims(signed).subtype === "INITIAL_BUY");
  await client.configureRealtimeURL({ realtimeURL: `http://127.0.0.1:${receiver.address().port}/apple` });
  await sandbox("POST", `transactions/${transactionId}/retentionMessage`, {});
  const asked = await received((signed) => claims(signed).requestIdentifier);
  const { signedAppTransactionInfo } = await client.getAppTransactionInfo(transactionId);
  const other = new library.SignedDataVerifier(roots(), false, Environment.PRODUCTION, bundle, 1);
  const signed = {
    verifyAndDecodeTransaction: last.signedTransactionInfo, verifyAndDecodeRenewalInfo: last.signedRenewalInfo,
    verifyAndDecodeNotification: told, verifyAndDecodeAppTransaction: signedAppTransactionInfo,
    verifyAndDecodeRealtimeRequest: asked,
  };
  const methods = Object.getOwnPropertyNames(library.SignedDataVerifier.prototype);
  assert.deepEqual(methods.filter((name) => name.startsWith("verifyAndDecode")).sort(), Object.keys(signed).sort());
  for (const online of [false, true]) {
    const reader = new library.SignedDataVerifier(roots(), online, Environment.SANDBOX, bundle);
    for (const [name, text] of Object.entries(signed)) assert.ok(await reader[name](text), name);
  }
  for (const [name, text] of Object.entries(signed)) {
    await assert.rejects(() => other[name](text), (thrown) => {
      assert.ok(thrown instanceof VerificationException, name);
      return VerificationStatus[thrown.status] !== "OK";
    });
    const [head, payload, signature] = text.split(".");
    const forged = [head, payload, [...signature].reverse().join("")].join(".");
    await assert.rejects(() => verifier[name](forged), VerificationException);
  }
});

test("a receipt leads to its transaction", async () => {
  const account = randomUUID();
  const bought = await sandbox("POST", "purchases", { account, productId: "garden.gate" });
  const { receipt } = await sandbox("GET", `accounts/${account}/receipt`);
  assert.equal(new library.ReceiptUtility().extractTransactionIdFromAppReceipt(receipt), bought.transactionId);
});

test("the store accepts what the four creators of signatures sign", async () => {
  const account = randomUUID();
  const { transactionId } = await sandbox("POST", "purchases", { account, productId: monthly });
  const { text, keyId, issuerId } = key;
  const timestamp = (await sandbox("GET", "time")).millisecondsSince1970;
  const nonce = randomUUID();
  const oldest = new library.PromotionalOfferSignatureCreator(text, keyId, bundle);
  const signature = oldest.createSignature(monthly, "spring", "", nonce, timestamp);
  await sandbox("POST", "purchases", {
    account, productId: monthly, offerType: "promotional", offerIdentifier: "spring",
    offerSignature: { keyIdentifier: keyId, nonce, timestamp, signature },
  });
  const creator = (kind) => new library[kind](text, keyId, issuerId, bundle);
  const signed = {
    "promotional-offer": creator("PromotionalOfferV2SignatureCreator").createSignature(monthly, "spring", transactionId),
    "introductory-offer-eligibility":
      creator("IntroductoryOfferEligibilitySignatureCreator").createSignature(monthly, true, transactionId),
    "advanced-commerce-api": creator("AdvancedCommerceInAppSignatureCreator").createSignature({
      operation: "CREATE_ONE_TIME_CHARGE", version: "1", requestInfo: { requestReferenceId: randomUUID() },
      currency: "USD", taxCode: "C003-00-2",
      item: { SKU: "bench", description: "A bench", displayName: "Bench", price: 9990 },
    }),
  };
  for (const [audience, signedRequest] of Object.entries(signed)) {
    const verdict = await sandbox("POST", "signedRequests", { signedRequest });
    assert.deepEqual([verdict.refusal, verdict.isAccepted, verdict.audience], [undefined, true, audience]);
  }
});
