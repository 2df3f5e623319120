// The local App Store, over its sandbox routes.
import { sendJSON } from "./http.mjs";

export class AppStore {
    constructor(url, key) {
        this.url = `${url}/sandbox/v1`;
        this.key = key;
    }

    send(method, path, body) {
        return sendJSON(method, `${this.url}/${path}`, this.key, body);
    }

    async products() {
        return (await this.send("GET", "products")).products;
    }

    buy(account, productId, quantity, appAccountToken) {
        return this.send("POST", "purchases", { account, productId, quantity, appAccountToken });
    }

    /** The transactions in an account's queue that the app has not finished. */
    async unfinished(account) {
        const queue = await this.send("GET", `queue?account=${account}`);
        return queue.transactions.filter(({ state }) => state === "purchased" || state === "restored");
    }

    finish(number) {
        return this.send("POST", `queue/${number}/finish`);
    }

    restore(account) {
        return this.send("POST", `accounts/${account}/restore`);
    }

    async receipt(account) {
        return (await this.send("GET", `accounts/${account}/receipt`)).receipt;
    }

    async sales(account) {
        return (await this.send("GET", `accounts/${account}/transactions`)).transactions;
    }

    /** An event of a sale: renewal, expiry, cancellation, refund. */
    act(transaction, event) {
        return this.send("POST", `transactions/${transaction}/${event}`);
    }

    async time() {
        return Date.parse((await this.send("GET", "time")).now);
    }
}
