// The local Google Play, over its sandbox routes.
import { sendJSON } from "./http.mjs";

const PACKAGE = "com.example.garden";

export class GooglePlay {
    constructor(url, key) {
        this.url = `${url}/sandbox/v1`;
        this.key = key;
    }

    send(method, path, body) {
        return sendJSON(method, `${this.url}/${path}`, this.key, body);
    }

    buy(account, productId, obfuscatedAccountId) {
        return this.send("POST", "purchases", { packageName: PACKAGE, productId, account, obfuscatedAccountId });
    }

    subscribe(account, productId, obfuscatedAccountId) {
        return this.send("POST", "subscriptions", { packageName: PACKAGE, productId, account, obfuscatedAccountId });
    }

    /** The one-time purchases and subscriptions of an account, with what Google Play knows of them. */
    async purchases(account) {
        const { purchases } = await this.send("GET", `purchases?account=${account}`);
        const { subscriptions } = await this.send("GET", `subscriptions?account=${account}`);
        return [...purchases, ...subscriptions];
    }

    refund(number) {
        return this.send("POST", `purchases/${number}/refund`, {});
    }

    /** An action of the customer or of Google on a subscription, such as cancel. */
    act(number, action) {
        return this.send("POST", `subscriptions/${number}/${action}`);
    }
}
