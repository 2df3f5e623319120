// An app with the unmodified store.js, from its start to its end.
import { readFileSync } from "node:fs";
import vm from "node:vm";
import { PlayBilling } from "./play-billing.mjs";
import { StoreKit } from "./store-kit.mjs";
import { page } from "./web-view.mjs";

const PRODUCTS = {
    "garden.gate": "non consumable", "garden.seeds": "consumable", "garden.basic.monthly": "paid subscription",
    "garden.premium.monthly": "paid subscription",
};

/** Waits until a condition holds. Throws with its name after a limit of 20 seconds. */
export async function until(name, condition) {
    const end = Date.now() + 120_000;
    while (!(await condition())) {
        if (Date.now() > end) throw new Error(`still not: ${name}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

export class App {
    verified = [];
    unverified = [];
    finished = [];

    /**
     * @param script The path of store.js.
     * @param options `appStore`, `account`, `clock`, `validator`; `googlePlay` for an app on Android; `username`, `version` of
     * StoreKit (default: 2), `change` of proofs.
     */
    static async start(script, { appStore, googlePlay, account, clock, validator, username, version = 2, change }) {
        const app = new App();
        if (googlePlay) app.billing = new PlayBilling(googlePlay, account, change);
        else app.storeKit = new StoreKit(appStore, account, version, change);
        const native = app.billing ?? app.storeKit;
        const platform = app.billing ? "android-playstore" : "ios-appstore";
        Object.assign(app, { clock, platform });
        const cordova = { platformId: app.billing ? "android" : "ios", exec: (...call) => native.exec(...call) };
        const window = page(clock, cordova, app.billing ? undefined : version);
        native.attach(window);
        vm.runInContext(readFileSync(script, "utf8"), vm.createContext(window), { filename: script });
        await until("the plugin is loaded", () => window.CdvPurchase?.store);
        const { store } = window.CdvPurchase;
        app.store = store;
        store.register(Object.entries(PRODUCTS).map(([id, type]) => ({ id, type, platform })));
        store.validator = validator;
        store.applicationUsername = username;
        store.when()
            .approved((transaction) => transaction.verify())
            .verified((receipt) => {
                app.verified.push(receipt);
                receipt.finish();
            })
            .unverified(({ payload }) => app.unverified.push(payload))
            .finished((transaction) => app.finished.push(transaction.transactionId));
        await store.initialize([platform]);
        await until("the products are loaded", () => store.get("garden.gate", platform));
        return app;
    }

    async order(product) {
        const error = await this.store.get(product, this.platform).getOffer().order();
        if (error?.isError) throw new Error(`order(${product}): ${error.message}`);
    }

    owns(product) {
        return this.store.owned({ id: product, platform: this.platform });
    }

    purchase(product) {
        return this.store.findInVerifiedReceipts({ id: product, platform: this.platform });
    }

    /** Verifies again, after the plugin has forgotten the last answer, and waits for the next one. */
    async verifyAgain() {
        this.clock.advance(3);
        const count = this.verified.length + this.unverified.length;
        const receipt = this.store.localReceipts.find(({ className, transactions }) =>
            className === "Receipt" && transactions.some(({ transactionId }) => !transactionId.startsWith("virtual.")));
        await receipt.verify();
        await until("the receipt is verified again", () => this.verified.length + this.unverified.length > count);
    }

    /** Verifies again until a condition holds: the App Store's notifications take a moment. */
    async verifyUntil(name, condition) {
        await until(name, async () => {
            await this.verifyAgain();
            return condition();
        });
    }
}
