import Commerce
import Ledger

/// A message as it goes over the line, in the form of Standard Webhooks (version 1).
public struct SignedWebhook: Sendable {
    public let body: [UInt8]
    /// By name: `webhook-id`, which stays the same however often the message is sent, `webhook-timestamp`, which does not, and
    /// `webhook-signature`, one for each secret that is good.
    public let headers: [(name: String, value: String)]

    /// - Parameter moment: When it is sent, in seconds since 1970 on the line.
    package init(_ body: [UInt8], identifier: String, secrets: [WebhookSecret], at moment: Timestamp) {
        self.body = body
        let seconds = String(moment.secondsSince1970)
        let content = Array("\(identifier).\(seconds).".utf8) + body
        headers = [
            ("webhook-id", identifier), ("webhook-timestamp", seconds),
            ("webhook-signature", secrets.map { $0.signature(of: content) }.joined(separator: " ")),
        ]
    }
}

extension WebhookEndpoint {
    /// The secrets that are good at a moment, the newest first.
    public func secrets(at moment: Timestamp) -> [WebhookSecret] {
        let previous = previousSecret.flatMap { $0.endsAt > moment ? $0.bytes : nil }
        return ([secret] + [previous].compactMap(\.self)).map(WebhookSecret.init)
    }
}
