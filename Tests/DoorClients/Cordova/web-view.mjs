// The parts of a web view that store.js uses: a window, a clock and XMLHttpRequest with the rules of CORS.
import { send } from "../http.mjs";

/** The origin of the pages of a Capacitor app. */
const ORIGIN = "capacitor://localhost";
/** The header fields that need no permission (Fetch Standard, CORS-safelisted request-header). */
const SAFE = new Set(["accept", "accept-language", "content-language"]);

/** Requests of the app, in their order: the address and the status, which is 0 without an answer. */
export const requests = [];

class XMLHttpRequest {
    readyState = 0;
    status = 0;
    statusText = "";
    responseText = "";
    #headers = {};

    open(method, url) {
        Object.assign(this, { method, url });
    }

    setRequestHeader(name, value) {
        this.#headers[name.toLowerCase()] = value;
    }

    send(body) {
        this.#exchange(body).catch(() => ({ status: 0, text: "" })).then(({ status, text }) => {
            requests.push({ url: this.url, status });
            Object.assign(this, { readyState: 4, status, responseText: text });
            this.onreadystatechange?.();
        });
    }

    async #exchange(body) {
        const asked = Object.keys(this.#headers).filter((name) => !SAFE.has(name)).sort();
        const preflight = await send("OPTIONS", this.url, {
            headers: {
                origin: ORIGIN, "access-control-request-method": this.method,
                "access-control-request-headers": asked.join(","),
            },
        });
        const allowed = (preflight.headers["access-control-allow-headers"] ?? "").toLowerCase().split(/ *, */);
        if (preflight.status >= 300 || !this.#allows(preflight)) throw new Error("CORS: the origin is not allowed");
        if (!preflight.headers["access-control-allow-methods"]?.includes(this.method)) throw new Error("CORS: method");
        if (!asked.every((name) => allowed.includes(name))) throw new Error("CORS: a header is not allowed");
        const answer = await send(this.method, this.url, { headers: { ...this.#headers, origin: ORIGIN }, body });
        // A page cannot read an answer without the permission.
        if (!this.#allows(answer)) throw new Error("CORS: the answer is not readable");
        return answer;
    }

    #allows(answer) {
        return ["*", ORIGIN].includes(answer.headers["access-control-allow-origin"]);
    }
}

/** A clock that the test controls. The plugin keeps answers for two minutes. */
export class Clock {
    /** The difference to the machine's clock, in milliseconds. */
    offset = 0;

    set(now) {
        this.offset = now - Date.now();
    }

    advance(minutes) {
        this.offset += minutes * 60_000;
    }

    get Date() {
        const clock = this;
        return class extends Date {
            constructor(...values) {
                if (values.length === 0) super(Date.now() + clock.offset);
                else super(...values);
            }

            static now() {
                return Date.now() + clock.offset;
            }
        };
    }
}

/** The global object of the page of an app. */
export function page(clock, cordova, storeKitVersion) {
    const storage = new Map();
    const quiet = () => {};
    const window = {
        XMLHttpRequest, Date: clock.Date, setTimeout, clearTimeout, clearInterval,
        // The plugin checks for expiries for ever, which must not keep the process.
        setInterval: (...options) => setInterval(...options).unref(),
        console: { log: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet },
        document: { addEventListener: quiet },
        localStorage: {
            getItem: (key) => storage.get(key) ?? null,
            setItem: (key, value) => storage.set(key, value),
            removeItem: (key) => storage.delete(key),
        },
        cordova,
    };
    if (storeKitVersion === 2) window.CdvPurchaseStoreKit2 = { installed: true };
    window.window = window;
    return window;
}
