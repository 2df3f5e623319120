// Drives the unmodified store.js of cordova-plugin-purchase against a running service, its local App Store and a local Google Play.
//   TILL_URL, TILL_PLAY_URL, TILL_SANDBOX_KEY, TILL_PUBLIC_KEY, TILL_API_KEY and TILL_PEERS: see Scripts/test-doors.sh.
import assert from "node:assert/strict";
import path from "node:path";
import { AppStore } from "./app-store.mjs";
import { App, until } from "./Cordova/app.mjs";
import { Clock, requests } from "./Cordova/web-view.mjs";
import { GooglePlay } from "./google-play.mjs";
import { sendJSON } from "./http.mjs";

const { TILL_URL, TILL_PLAY_URL, TILL_SANDBOX_KEY, TILL_PUBLIC_KEY, TILL_API_KEY, TILL_PEERS } = process.env;
const script = path.join(TILL_PEERS, "cordova-plugin-purchase", "store.js");
const appStore = new AppStore(TILL_URL, TILL_SANDBOX_KEY);
const googlePlay = new GooglePlay(TILL_PLAY_URL, TILL_SANDBOX_KEY);
const address = `${TILL_URL}/v1/validators/cordova`;
const inQuery = `${address}?appName=garden&apiKey=${TILL_PUBLIC_KEY}`;
const inHeader = { url: address, headers: { Authorization: `Bearer ${TILL_PUBLIC_KEY}`, "X-App-Version": "1.0" } };
const [GATE, SEEDS, MONTHLY] = ["garden.gate", "garden.seeds", "garden.basic.monthly"];
const [COMMUNICATION, VERIFICATION_FAILED] = [6777014, 6777017];
const clock = new Clock();

const start = (account, options = {}) => App.start(script, { appStore, account, clock, validator: inQuery, ...options });
const startAndroid = (account, options = {}) => start(account, { googlePlay, ...options });
const purchaseAtPlay = async (account, product) =>
    (await googlePlay.purchases(account)).find(({ productId }) => productId === product);
const isFinished = async (account) => (await appStore.unfinished(account)).length === 0;

async function buy(app, account, product) {
    const count = app.verified.length;
    await app.order(product);
    await until(`${product} is verified`, () => app.verified.length > count);
    await until(`${product} is finished`, () => isFinished(account));
}

const tests = {
    async "buys, verifies and finishes, with the key in the query"() {
        const app = await start("ann", { username: "ann" });
        assert.equal(app.owns(GATE), false);
        await buy(app, "ann", GATE);
        assert.equal(app.owns(GATE), true);
        assert.equal(app.verified[0].id, "com.example.garden");
        assert.equal(app.purchase(GATE).isExpired, false);
        await until("the app sees it finished", () => app.finished.length > 0);
        assert.deepEqual(app.unverified, []);
    },

    async "adds the customer's other purchases, with the key in a header"() {
        const app = await start("ann", { username: "ann", validator: inHeader });
        await buy(app, "ann", MONTHLY);
        assert.equal(app.owns(MONTHLY), true);
        assert.equal(app.owns(GATE), true);
        assert.ok(app.purchase(MONTHLY).expiryDate > clock.Date.now());
    },

    async "adds a consumable to the balance once"() {
        const app = await start("ann", { username: "ann" });
        await buy(app, "ann", SEEDS);
        await app.verifyAgain();
        const { balances } = await sendJSON("GET", `${TILL_URL}/v1/users/ann/balances?issuer=customer`, TILL_API_KEY);
        assert.deepEqual(balances.map(({ balance, amount }) => [balance, amount]), [["seeds", 10]]);
    },

    async "restores on another device"() {
        const app = await start("ann", { username: "ann" });
        await app.store.restorePurchases();
        await until("the purchases are restored", () => app.owns(GATE) && app.owns(MONTHLY));
        await until("the restored transactions are finished", () => isFinished("ann"));
    },

    async "renews"() {
        const app = await start("ann", { username: "ann" });
        await app.store.restorePurchases();
        await until("the subscription is restored", () => app.owns(MONTHLY));
        const before = app.purchase(MONTHLY);
        await appStore.act(before.purchaseId, "renewal");
        await app.storeKit.deliver();
        await app.verifyUntil("the renewal is known", () => app.purchase(MONTHLY).transactionId !== before.transactionId);
        const after = app.purchase(MONTHLY);
        assert.equal(after.purchaseId, before.purchaseId);
        assert.ok(after.expiryDate > before.expiryDate);
        assert.equal(after.renewalIntent, "Renew");
        assert.equal(app.owns(MONTHLY), true);
        await appStore.act(before.purchaseId, "cancellation");
        await app.verifyUntil("the cancellation is known", () => app.purchase(MONTHLY).renewalIntent === "Lapse");
        assert.equal(app.owns(MONTHLY), true);
    },

    async "expires"() {
        const app = await start("ann", { username: "ann" });
        await app.store.restorePurchases();
        await until("the subscription is restored", () => app.purchase(MONTHLY));
        await appStore.act(app.purchase(MONTHLY).purchaseId, "expiry");
        await app.verifyUntil("the expiry is known", () => app.purchase(MONTHLY).isExpired);
        assert.equal(app.owns(MONTHLY), false);
        assert.equal(app.owns(GATE), true);
        assert.ok(app.purchase(MONTHLY).cancelationReason);
    },

    async "refunds"() {
        const app = await start("ann", { username: "ann" });
        await app.store.restorePurchases();
        await until("the gate is restored", () => app.owns(GATE));
        await appStore.act(app.purchase(GATE).transactionId, "refund");
        await app.verifyUntil("the refund is known", () => !app.owns(GATE));
        assert.equal(app.purchase(GATE).cancelationReason, "Customer.OtherReason");
    },

    async "keeps a purchase while the service is offline"() {
        const app = await start("ben", { username: "ben", validator: "http://127.0.0.1:1/v1/validators/cordova" });
        await app.order(GATE);
        await until("the purchase is unverified", () => app.unverified.length > 0);
        assert.equal(app.unverified[0].code, COMMUNICATION);
        assert.equal(await isFinished("ben"), false);
        const again = await start("ben", { username: "ben" });
        await until("the purchase is delivered again and finished", () => isFinished("ben"));
        assert.equal(again.owns(GATE), true);
    },

    async "keeps a purchase while the service refuses the app"() {
        const app = await start("cleo", { username: "cleo", validator: `${address}?apiKey=appl_unknown` });
        await app.order(GATE);
        await until("the purchase is unverified", () => app.unverified.length > 0);
        assert.equal(app.unverified[0].code, COMMUNICATION);
        assert.equal(app.unverified[0].status, 503);
        assert.equal(await isFinished("cleo"), false);
        const again = await start("cleo", { username: "cleo" });
        await until("the purchase is delivered again and finished", () => isFinished("cleo"));
        assert.equal(again.owns(GATE), true);
    },

    async "refuses another customer's purchase, and the plugin keeps the verdict"() {
        await buy(await start("dora"), "dora", GATE);
        const owner = await start("dora", { username: "dora" });
        await owner.store.restorePurchases();
        await until("the purchase is the named customer's", () => owner.owns(GATE));
        const app = await start("dora", { username: "eve" });
        await app.store.restorePurchases();
        await until("the purchase is refused", () => app.unverified.length > 0);
        assert.equal(app.unverified[0].code, VERIFICATION_FAILED);
        assert.equal(app.owns(GATE), false);
        const count = requests.length;
        app.clock.advance(-3);
        await app.verifyAgain();
        assert.equal(requests.length, count);
    },

    async "keeps a purchase for the customer of its account token"() {
        const app = await start("fay", { username: "fay", validator: "http://127.0.0.1:1/v1/validators/cordova" });
        await app.order(GATE);
        await until("the purchase is unverified", () => app.unverified.length > 0);
        const other = await start("fay", { username: "gus" });
        await until("the other customer is refused", () => other.unverified.length > 0);
        assert.equal(other.unverified[0].status, 503);
        assert.equal(await isFinished("fay"), false);
        await start("fay", { username: "fay" });
        await until("the purchase is the customer's", () => isFinished("fay"));
    },

    async "refuses a forged proof"() {
        const forge = (proof) => proof.slice(0, -8) + "AAAAAAAA";
        const app = await start("hal", { username: "hal", change: forge });
        await app.order(GATE);
        await until("the proof is refused", () => app.unverified.length > 0);
        assert.equal(app.unverified[0].code, VERIFICATION_FAILED);
        assert.equal(await isFinished("hal"), false);
    },

    async "verifies app receipts of StoreKit 1"() {
        const app = await start("ida", { username: "ida", version: 1 });
        await buy(app, "ida", GATE);
        await buy(app, "ida", MONTHLY);
        assert.equal(app.owns(GATE), true);
        assert.equal(app.owns(MONTHLY), true);
        const application = app.store.localTransactions.find(({ transactionId }) => transactionId === "appstore.application");
        assert.ok(application.purchaseDate.getTime() > 0);
    },

    async "knows a customer without an id by the proofs"() {
        const app = await start("joe");
        await buy(app, "joe", GATE);
        await buy(app, "joe", MONTHLY);
        assert.equal(app.owns(GATE), true);
        assert.equal(app.owns(MONTHLY), true);
        const named = await start("joe", { username: "joe" });
        await named.store.restorePurchases();
        await until("the named customer has the purchases", () => named.owns(GATE) && named.owns(MONTHLY));
    },

    async "on Android, buys, verifies and finishes, and the service acknowledges"() {
        const app = await startAndroid("pat", { username: "pat", validator: inHeader });
        await app.order(GATE);
        await until("the purchase is owned", () => app.owns(GATE));
        assert.equal(app.verified[0].id, GATE);
        const { orderId, purchaseToken } = await purchaseAtPlay("pat", GATE);
        assert.equal(app.purchase(GATE).platform, "android-playstore");
        assert.equal(app.purchase(GATE).purchaseId, purchaseToken);
        assert.equal(app.purchase(GATE).transactionId, orderId);
        await until("the app sees it finished", () => app.billing.acknowledged.has(purchaseToken));
        await until("Google Play has it acknowledged", async () => (await purchaseAtPlay("pat", GATE)).isAcknowledged);
        assert.deepEqual(app.unverified, []);
    },

    async "on Android, knows the state of a subscription"() {
        const app = await startAndroid("tia", { username: "tia" });
        await app.order(MONTHLY);
        await until("the subscription is owned", () => app.owns(MONTHLY));
        assert.equal(app.purchase(MONTHLY).renewalIntent, "Renew");
        assert.ok(app.purchase(MONTHLY).expiryDate > clock.Date.now());
        await googlePlay.act((await purchaseAtPlay("tia", MONTHLY)).number, "cancel");
        await app.verifyUntil("the cancellation is known", () => app.purchase(MONTHLY).renewalIntent === "Lapse");
        assert.equal(app.owns(MONTHLY), true);
    },

    async "on Android, adds a consumable to the balance once, and the service consumes it"() {
        const app = await startAndroid("uma", { username: "uma" });
        await app.order(SEEDS);
        await until("the seeds are verified", () => app.verified.some(({ id }) => id === SEEDS));
        await until("the app has consumed them", () => app.billing.consumed.size === 1);
        await until("Google Play has them consumed", async () => (await purchaseAtPlay("uma", SEEDS)).isConsumed);
        const { balances } = await sendJSON("GET", `${TILL_URL}/v1/users/uma/balances?issuer=customer`, TILL_API_KEY);
        assert.deepEqual(balances.map(({ balance, amount }) => [balance, amount]), [["seeds", 10]]);
    },

    async "on Android, takes a refunded purchase back"() {
        const app = await startAndroid("pat", { username: "pat" });
        await until("the purchases are restored", () => app.owns(GATE));
        await googlePlay.refund((await purchaseAtPlay("pat", GATE)).number);
        await app.verifyUntil("the refund is known", () => app.purchase(GATE).isExpired);
        assert.equal(app.owns(GATE), false);
    },

    async "on Android, refuses an invented token, and keeps the purchase of another customer"() {
        const invent = (purchase) => ({ ...purchase, purchaseToken: "aaaabbbbccccddddeeeeffff.AO-J1Oz_-" });
        const forged = await startAndroid("quin", { username: "quin", change: invent });
        await forged.order(GATE);
        await until("the token is refused", () => forged.unverified.length > 0);
        assert.equal(forged.unverified[0].code, COMMUNICATION);
        const app = await startAndroid("quin", { username: "quin" });
        await until("the purchase is owned", () => app.owns(GATE));
        const other = await startAndroid("quin", { username: "ron" });
        await until("the other customer is refused", () => other.unverified.length > 0);
        assert.equal(other.unverified[0].code, VERIFICATION_FAILED);
    },

    async "shows a customer of both stores the purchases of both"() {
        const phone = await start("sue", { username: "sue" });
        await buy(phone, "sue", GATE);
        const android = await startAndroid("sue", { username: "sue" });
        await android.order(MONTHLY);
        await until("both are owned", () => android.owns(MONTHLY) && android.owns(GATE));
    },
};

let [passed, failed] = [0, 0];
for (const [name, test] of Object.entries(tests)) {
    try {
        clock.set(await appStore.time());
        await test();
        passed += 1;
        console.log(`passed: ${name}`);
    } catch (error) {
        failed += 1;
        console.log(`FAILED: ${name}\n    ${String(error.stack ?? error).replaceAll("\n", "\n    ")}`);
    }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
