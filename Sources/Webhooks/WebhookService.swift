import Commerce
import Foundation
import Ledger
import Signatures

/// The use cases of webhooks, which report the changes of users' purchases to the team's back ends.
public struct WebhookService: Sendable {
    public static let maximumEndpoints = 10
    /// The allowed overlap of a replaced secret with the new one, in seconds.
    public static let overlap: ClosedRange<Int64> = 0...7 * 86_400
    /// The default overlap, in seconds.
    public static let standardOverlap: Int64 = 86_400

    public let ledger: Ledger
    let clock: any WallClock
    let randomness: Randomness

    /// - Parameter clock: The system's clock. Receivers compare its time with theirs.
    public init(ledger: Ledger, clock: any WallClock, randomness: Randomness) {
        self.ledger = ledger
        self.clock = clock
        self.randomness = randomness
    }

    public func now() -> Timestamp { clock.now() }

    /// Adds an endpoint, which receives all later events.
    ///
    /// - Parameter key: The identifier of the caller's API key.
    /// - Throws: `WebhookError`, `tooMany`.
    public func add(_ url: WebhookURL, by key: String) async throws -> WebhookEndpoint {
        let endpoint = WebhookEndpoint(
            identifier: "wh_" + randomness.bytes(12).hexadecimal, url: url.text, createdAt: clock.now(), createdBy: key,
            secret: randomness.bytes(WebhookSecret.length))
        let isAdded = try await ledger.write { try $0.add(endpoint, upTo: Self.maximumEndpoints) }
        guard isAdded else { throw WebhookError.tooMany }
        return endpoint
    }

    /// All endpoints, oldest first.
    public func endpoints() async throws -> [WebhookEndpoint] {
        try await ledger.read { try $0.webhookEndpoints() }
    }

    /// - Throws: `WebhookError`, `notFound`.
    public func endpoint(_ identifier: String) async throws -> WebhookEndpoint {
        let found = try await ledger.read { try $0.webhookEndpoint(identifier) }
        guard let found else { throw WebhookError.notFound }
        return found
    }

    /// - Throws: `WebhookError`, `notFound`.
    public func setURL(_ url: WebhookURL, of identifier: String) async throws -> WebhookEndpoint {
        let found = try await ledger.write { try $0.setURL(url.text, ofWebhookEndpoint: identifier) }
        guard let found else { throw WebhookError.notFound }
        return found
    }

    /// Replaces an endpoint's secret. Both secrets sign messages during the overlap.
    ///
    /// - Parameter seconds: The overlap. With 0, all previous secrets end now.
    /// - Throws: `WebhookError`, `notFound`, `secretBeingReplaced`.
    public func replaceSecret(
        of identifier: String,
        keepingPreviousFor seconds: Int64
    ) async throws -> WebhookEndpoint {
        let (endpoint, now) = (try await endpoint(identifier), clock.now())
        // A receiver that has only the previous secret would have no valid one.
        guard seconds == 0 || endpoint.secrets(at: now).count == 1 else { throw WebhookError.secretBeingReplaced }
        let (secret, end) = (
            randomness.bytes(WebhookSecret.length),
            Timestamp(millisecondsSince1970: now.millisecondsSince1970 + seconds * 1000)
        )
        let isReplaced = try await ledger.write {
            try $0.replace(endpoint.secret, with: secret, ending: end, ofWebhookEndpoint: identifier)
        }
        // Another caller replaced the secret meanwhile.
        guard isReplaced else { throw WebhookError.secretBeingReplaced }
        return WebhookEndpoint(
            identifier: identifier, url: endpoint.url, createdAt: endpoint.createdAt, createdBy: endpoint.createdBy,
            secret: secret, previousSecret: WebhookEndpoint.EndingSecret(bytes: endpoint.secret, endsAt: end))
    }

    /// - Throws: `WebhookError`, `notFound`.
    public func remove(_ identifier: String) async throws {
        let isRemoved = try await ledger.write { try $0.removeWebhookEndpoint(identifier, at: clock.now()) }
        guard isRemoved else { throw WebhookError.notFound }
    }
}
