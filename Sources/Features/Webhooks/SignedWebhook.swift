import Ledger
import Proofs

/// A signed message in the format of Standard Webhooks (version 1).
package struct SignedWebhook: Sendable {
    package let body: [UInt8]
    /// The headers: `authorization` if the endpoint has one, then those of Standard Webhooks. `webhook-id` is the same in each
    /// attempt, `webhook-timestamp` is the time of the attempt, and `webhook-signature` has a signature for each valid secret.
    package let headers: [(name: String, value: String)]

    /// - Parameter moment: The time of the attempt. The header has it in seconds since 1970.
    package init(
        _ body: [UInt8],
        identifier: String,
        secrets: [WebhookSecret],
        authorization: WebhookAuthorization? = nil,
        at moment: Timestamp
    ) {
        self.body = body
        let seconds = String(moment.secondsSince1970)
        let content = Array("\(identifier).\(seconds).".utf8) + body
        headers =
            (authorization.map { [("authorization", $0.value)] } ?? []) + [
                ("webhook-id", identifier), ("webhook-timestamp", seconds),
                ("webhook-signature", secrets.map { $0.signature(of: content) }.joined(separator: " ")),
            ]
    }
}

extension WebhookEndpoint {
    /// The secrets that are valid at a moment, newest first.
    package func secrets(at moment: Timestamp) -> [WebhookSecret] {
        let previous = previousSecret.flatMap { $0.endsAt > moment ? $0.bytes : nil }
        return ([secret] + [previous].compactMap(\.self)).map(WebhookSecret.init)
    }
}
