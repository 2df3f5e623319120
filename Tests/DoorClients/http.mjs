// HTTP without the rules of a browser: the stand-in of a web view applies its own.
import http from "node:http";

/** Sends a request. Throws if no answer arrives. */
export function send(method, url, { headers = {}, body } = {}) {
    return new Promise((resolve, reject) => {
        const request = http.request(url, { method, headers, agent: false }, (response) => {
            const chunks = [];
            response.on("data", (chunk) => chunks.push(chunk));
            response.on("error", reject);
            response.on("end", () =>
                resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString() }));
        });
        request.on("error", reject);
        request.end(body);
    });
}

/** Sends JSON with a bearer token, and returns the JSON of the answer. Throws for a status from 400. */
export async function sendJSON(method, url, key, body) {
    const answer = await send(method, url, {
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (answer.status >= 400) throw new Error(`${method} ${url}: ${answer.status} ${answer.text}`);
    return answer.text ? JSON.parse(answer.text) : undefined;
}
