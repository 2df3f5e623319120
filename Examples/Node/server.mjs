// A back end for an app that sells in the App Store and on Google Play, in plain Node 18 or later. ../README.md describes its routes
// and settings.

import { createHmac, createPrivateKey, createPublicKey, sign, timingSafeEqual, verify } from "node:crypto";
import { createServer } from "node:http";

// Put your own accounts here, with hashes of passwords. Till has the same names.
const passwords = new Map([["alice", "correct horse"], ["bob", "battery staple"]]);

// The messages of webhooks by their ids. Put a table of your database here.
const messages = new Map();

const port = Number(setting("PORT"));
const issuer = setting("ISSUER");
const audience = setting("AUDIENCE");
const privateKey = createPrivateKey({ key: JSON.parse(setting("SIGNING_KEY")), format: "jwk" });
const publicKey = createPublicKey(privateKey);
const tillURL = setting("TILL_URL");
const tillKey = setting("TILL_API_KEY");
const webhookKey = Buffer.from(setting("TILL_WEBHOOK_SECRET").replace(/^whsec_/, ""), "base64");

function setting(name) {
  const value = process.env[name];
  if (!value) throw new Error(`Set ${name}; ../README.md describes it.`);
  return value;
}

// An answer that ends a request.
class Refusal extends Error {
  constructor(status, detail, code) {
    super(detail);
    this.status = status;
    this.body = { detail, code };
  }
}

const routes = {
  "POST /sessions": (_, content) => logIn(parse(content)),
  "POST /purchases": (request, content) => redeem(authenticate(request), parse(content)),
  "GET /items": (request) => callTill("GET", authenticate(request), "items"),
  "GET /activity": (request) => activity(authenticate(request)),
  "POST /hooks": (request, content) => receive(request.headers, content),
};

// The token (RFC 7519) is one that this back end and Till accept.
function logIn({ name, password }) {
  if (!passwords.has(name) || !isEqual(Buffer.from(passwords.get(name)), Buffer.from(String(password))))
    throw new Refusal(401, "The name or the password is wrong.");
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, aud: audience, sub: name, iat: now, exp: now + 3600 };
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const content = `${encode({ alg: "EdDSA", typ: "JWT" })}.${encode(claims)}`;
  return { token: `${content}.${sign(null, Buffer.from(content), privateKey).toString("base64url")}` };
}

// The user of a request. Nothing is read from a token before its signature is verified.
function authenticate({ headers }) {
  const [head, claims, signature] = (headers.authorization ?? "").replace(/^Bearer /, "").split(".");
  if (!signature || !verify(null, Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, "base64url")))
    throw new Refusal(401, "Log in: the token is missing or not valid.");
  const { iss, aud, sub, exp } = parse(Buffer.from(claims, "base64url"));
  if (iss !== issuer || aud !== audience || exp * 1000 <= Date.now()) throw new Refusal(401, "Log in: the token has expired.");
  return sub;
}

// A signed transaction of the App Store, or a purchase token of Google Play. The app finishes the purchase if mayFinish is true.
function redeem(user, { signedTransaction, purchaseToken }) {
  return callTill("POST", user, "transactions", { signedTransaction, purchaseToken });
}

// Calls Till about a user. A refusal is for the app, such as of a purchase that belongs to another user. Any other failure passes: the app
// has not finished the purchase, so the store delivers it again.
async function callTill(method, user, resource, body) {
  const url = `${tillURL}/v1/users/${encodeURIComponent(user)}/${resource}?${new URLSearchParams({ issuer })}`;
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${tillKey}` },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  });
  const answer = await response.json();
  if ([400, 409, 422].includes(response.status)) throw new Refusal(response.status, answer.detail, answer.code);
  if (!response.ok) throw new Error(`Till answers ${response.status}: ${answer.detail}`);
  return answer;
}

// Keeps a message of Till's (standardwebhooks.com). One that comes again changes nothing.
function receive({ "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures = "" }, content) {
  const expected = createHmac("sha256", webhookKey).update(`${id}.${timestamp}.`).update(content).digest("base64");
  // While the secret changes, a message has a signature by each.
  if (!signatures.split(" ").some((signature) => isEqual(Buffer.from(signature), Buffer.from(`v1,${expected}`))))
    throw new Refusal(401, "The message is not signed with the webhook's secret.");
  if (!(Math.abs(Date.now() / 1000 - timestamp) <= 300)) throw new Refusal(401, "The message is too old.");
  if (!messages.has(id)) messages.set(id, parse(content));
}

// What has happened to a user's purchases. Messages can come in another order than that of their numbers.
function activity(user) {
  return [...messages.values()]
    .filter(({ data }) => data.user?.issuer === issuer && data.user.name === user)
    .sort((one, other) => one.data.number - other.data.number);
}

// Compares in constant time.
function isEqual(one, other) {
  return one.length === other.length && timingSafeEqual(one, other);
}

function parse(content) {
  try {
    return { ...JSON.parse(content) };
  } catch {
    throw new Refusal(400, "The content is not valid JSON.");
  }
}

async function read(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > 1_000_000) throw new Refusal(413, "The content is too long.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export const server = createServer(async (request, response) => {
  let status = 200;
  let answer;
  try {
    const route = routes[`${request.method} ${request.url.split("?")[0]}`];
    if (!route) throw new Refusal(404, "There is no such route.");
    answer = await route(request, await read(request));
    if (answer === undefined) status = 204;
  } catch (error) {
    if (!(error instanceof Refusal)) console.error(request.method, request.url, error);
    ({ status, body: answer } = error instanceof Refusal ? error : new Refusal(503, "Try again later."));
  }
  if (answer) response.setHeader("content-type", "application/json");
  response.writeHead(status).end(answer && JSON.stringify(answer));
});
server.listen(port, () => console.log(`Listening on http://127.0.0.1:${port}`));
