// The Play Billing Library, as the native half of the plugin presents it to store.js through cordova.exec.
const PRICE = { formatted_price: "$4.99", price_amount_micros: 4_990_000, price_currency_code: "USD" };
const [PURCHASED, PENDING] = [1, 2];

export class PlayBilling {
    /**
     * @param googlePlay The local Google Play.
     * @param account The customer's account.
     * @param change Changes each purchase that the app gets, as an attacker does.
     */
    constructor(googlePlay, account, change = (purchase) => purchase) {
        Object.assign(this, { googlePlay, account, change });
        this.consumed = new Set();
        this.acknowledged = new Set();
    }

    attach() {}

    exec(success, failure, service, method, options) {
        if (method === "setListener") this.listener = success;
        else this.call(method, options ?? []).then(
            (result) => success?.(result),
            (error) => failure?.(error.message));
    }

    async call(method, options) {
        switch (method) {
            case "getAvailableProducts": return [...options[0].map(product), ...options[1].map(subscription)];
            case "getPurchases": return this.deliver("setPurchases");
            case "buy": return this.buy("buy", ...options);
            case "subscribe": return this.buy("subscribe", ...options);
            case "acknowledgePurchase":
                this.acknowledged.add(options[0]);
                return this.deliver("purchasesUpdated");
            case "consumePurchase": return this.consume(options[0]);
            case "getStorefront": return "US";
            default: return undefined;
        }
    }

    async buy(method, idAndToken, { accountId } = {}) {
        await this.googlePlay[method](this.account, idAndToken.split("@")[0], accountId);
        // The library reports the purchase after the app has its answer.
        setTimeout(() => this.deliver("purchasesUpdated"), 0);
    }

    async consume(token) {
        const purchase = (await this.owned()).find(({ purchaseToken }) => purchaseToken === token);
        this.consumed.add(token);
        setTimeout(() => this.listener({ type: "purchaseConsumed", data: { purchase } }), 0);
    }

    /** Tells the app what the account owns: at its start, and after each change. */
    async deliver(type) {
        this.listener({ type, data: { purchases: await this.owned() } });
    }

    async owned() {
        const all = await this.googlePlay.purchases(this.account);
        return all.filter(({ state, isConsumed, purchaseToken }) =>
            !["canceled", "expired"].includes(state) && !isConsumed && !this.consumed.has(purchaseToken))
            .map((purchase) => this.change(this.read(purchase)));
    }

    /** A purchase as the library gives it: the fields of the signed text, the text and its signature. */
    read({ purchaseToken, state, isAcknowledged, signedPurchase }) {
        const text = JSON.parse(signedPurchase.purchase);
        return {
            ...text, purchaseToken, productIds: [text.productId], receipt: signedPurchase.purchase,
            signature: signedPurchase.signature, quantity: text.quantity ?? 1,
            acknowledged: isAcknowledged || this.acknowledged.has(purchaseToken),
            getPurchaseState: state === "pending" ? PENDING : PURCHASED,
        };
    }
}

function product(productId) {
    const text = { productId, name: productId, title: productId, description: productId };
    return { product_format: "v12.0", product_type: "inapp", ...text, ...PRICE };
}

function subscription(productId) {
    const phase = { recurrence_mode: "INFINITE_RECURRING", billing_period: "P1M", billing_cycle_count: 0, ...PRICE };
    const offer = { base_plan_id: "p1m", offer_id: null, token: "offer-token", tags: [], pricing_phases: [phase] };
    const text = { productId, name: productId, title: productId, description: productId };
    return { product_format: "v12.0", product_type: "subs", ...text, offers: [offer] };
}
