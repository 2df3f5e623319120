// StoreKit, as the native half of the plugin presents it to store.js through cordova.exec.
const BUNDLE = "com.example.garden";
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export class StoreKit {
    /**
     * @param appStore The local App Store.
     * @param account The customer's account.
     * @param version 1 for app receipts, 2 for signed transactions.
     * @param change Changes each proof, as an attacker does.
     */
    constructor(appStore, account, version, change = (proof) => proof) {
        Object.assign(this, { appStore, account, version, change });
        this.delivered = new Set();
    }

    /** Called with the window of the app, where store.js puts its bridge. */
    attach(window) {
        this.window = window;
    }

    get bridge() {
        return this.version === 2 ? this.window.storekit2 : this.window.storekit;
    }

    exec(success, failure, service, method, options) {
        this.call(method, options ?? []).then(
            (result) => success?.(result),
            (error) => failure?.(error.message));
    }

    async call(method, options) {
        switch (method) {
            case "load": return this.load(options[0]);
            case "purchase": return this.purchase(...options);
            case "finishTransaction": return this.finish(options[0]);
            case "processPendingTransactions": return this.deliver();
            case "restoreCompletedTransactions": return this.restore();
            case "appStoreReceipt":
            case "appStoreRefreshReceipt": return this.receipt();
            case "getStorefront": return "USA";
            default: return undefined;
        }
    }

    async load(ids) {
        const products = new Map((await this.appStore.products()).map((product) => [product.productId, product]));
        const valid = ids.filter((id) => products.has(id)).map((id) => {
            const product = products.get(id);
            return {
                id, title: product.displayName, description: product.description, price: product.displayPrice,
                priceMicros: product.price * 1000, currency: product.currency, countryCode: "US",
            };
        });
        return [valid, ids.filter((id) => !products.has(id))];
    }

    async purchase(product, quantity, username) {
        const token = UUID.test(username ?? "") ? username : undefined;
        const bought = await this.appStore.buy(this.account, product, quantity, token);
        // The native half reports the transaction after it has accepted the payment.
        setTimeout(() => this.update(bought), 0);
    }

    /** Delivers the transactions that the app has not finished: at its start, and when the App Store has a new one. */
    async deliver() {
        for (const transaction of await this.appStore.unfinished(this.account)) await this.update(transaction);
    }

    async update(transaction) {
        if (this.delivered.has(transaction.number)) return;
        this.delivered.add(transaction.number);
        const sale = (await this.appStore.sales(this.account)).find(
            ({ transactionId }) => transactionId === transaction.transactionId);
        const state = transaction.state === "restored" ? "Restored" : "Purchased";
        const facts = [transaction.originalTransactionId, sale && String(Date.parse(sale.purchaseDate)), ""];
        const signed = [
            sale?.expiresDate && String(Date.parse(sale.expiresDate)), this.change(transaction.signedTransaction),
        ];
        this.bridge.transactionUpdated(
            `PaymentTransactionState${state}`, 0, "", transaction.transactionId, transaction.productId, "", ...facts,
            ...(this.version === 2 ? signed : []), transaction.quantity);
        this.bridge.lastTransactionUpdated?.();
    }

    async finish(transactionId) {
        const transactions = await this.appStore.unfinished(this.account);
        for (const transaction of transactions.filter((other) => other.transactionId === transactionId)) {
            await this.appStore.finish(transaction.number);
        }
        setTimeout(() => this.bridge.transactionUpdated("PaymentTransactionStateFinished", 0, "", transactionId, ""), 0);
    }

    async restore() {
        await this.appStore.restore(this.account);
        await this.deliver();
        this.bridge.restoreCompletedTransactionsFinished();
    }

    /** An app with StoreKit 2 has no app receipt. */
    async receipt() {
        const receipt = this.version === 2 ? "" : this.change(await this.appStore.receipt(this.account));
        return [receipt, BUNDLE, "1.0", 1, ""];
    }
}
