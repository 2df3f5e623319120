import Catalog
import Foundation
import Ledger
import Proofs

/// The use cases of webhooks, which report the changes of users' purchases to the team's back ends.
package struct WebhookService: Sendable {
    static let maximumEndpoints = 10
    /// The allowed overlap of a replaced secret with the new one, in seconds.
    package static let overlap: ClosedRange<Int64> = 0...7 * 86_400
    /// The default overlap, in seconds.
    package static let standardOverlap: Int64 = 86_400

    package let ledger: Ledger
    /// The apps whose catalogs name the rights in messages.
    let apps: Apps
    let clock: any WallClock
    let randomness: Randomness
    /// The bundle identifier of the only app whose endpoints the caller sees and changes; nil for all endpoints.
    private var limitingApp: String?

    /// - Parameter clock: The system's clock. Receivers compare its time with theirs.
    package init(ledger: Ledger, apps: Apps, clock: any WallClock, randomness: Randomness) {
        self.ledger = ledger
        self.apps = apps
        self.clock = clock
        self.randomness = randomness
    }

    /// The same service for a caller who sees and changes only the endpoints of one app.
    ///
    /// - Parameter app: The bundle identifier; nil for a caller of all apps.
    package func limited(to app: String?) -> WebhookService {
        var service = self
        service.limitingApp = app
        return service
    }

    package func now() -> Timestamp { clock.now() }

    /// Adds an endpoint, which receives all later events.
    ///
    /// - Parameters:
    ///   - authorization: The header `Authorization` of each message; nil for none.
    ///   - key: The identifier of the caller's API key, or `member NAME` for a person.
    /// - Throws: `WebhookError`, `tooMany`.
    package func add(
        _ url: WebhookURL,
        format: WebhookFormat = .till,
        authorization: WebhookAuthorization? = nil,
        by key: String
    ) async throws -> WebhookEndpoint {
        let endpoint = WebhookEndpoint(
            identifier: "wh_" + randomness.bytes(12).hexadecimal, url: url.text, format: format, createdAt: clock.now(),
            createdBy: key, secret: randomness.bytes(WebhookSecret.length), authorization: authorization,
            app: limitingApp)
        let record = recording(.added, of: endpoint.identifier, by: key)
        let isAdded = try await ledger.write { transaction in
            guard try transaction.add(endpoint, upTo: Self.maximumEndpoints) else { return false }
            try record(transaction)
            return true
        }
        guard isAdded else { throw WebhookError.tooMany }
        return endpoint
    }

    /// All endpoints that the caller sees, oldest first.
    package func endpoints() async throws -> [WebhookEndpoint] {
        try await ledger.read { try $0.webhookEndpoints() }.filter(isVisible)
    }

    private func isVisible(_ endpoint: WebhookEndpoint) -> Bool {
        limitingApp.map { endpoint.app?.hasSameBytes(as: $0) ?? false } ?? true
    }

    /// An endpoint that the caller sees. Each use case reads it first; its app never changes.
    ///
    /// - Throws: `WebhookError`, `notFound`.
    package func endpoint(_ identifier: String) async throws -> WebhookEndpoint {
        let found = try await ledger.read { try $0.webhookEndpoint(identifier) }
        guard let found, isVisible(found) else { throw WebhookError.notFound }
        return found
    }

    /// The last changes of an endpoint by the team, newest first, also of a removed one. Only people of the team ask for them.
    package func changes(of identifier: String, limit: Int) async throws -> [WebhookChange] {
        try await ledger.read { try $0.webhookChanges(of: identifier, limit: limit) }
    }

    /// Returns a function that records a change in the transaction of the change.
    func recording(
        _ event: WebhookChange.Event,
        of identifier: String,
        by key: String,
        detail: String? = nil
    ) -> @Sendable (LedgerTransaction) throws -> Void {
        let change = WebhookChange(
            endpointIdentifier: identifier, happenedAt: clock.now(), event: event, changedBy: key, detail: detail)
        let bytes = randomness.bytes(WebhookChangeIdentifier.randomCount)
        return { try $0.record(change, randomBytes: bytes) }
    }

    /// - Throws: `WebhookError`, `notFound`.
    package func setURL(_ url: WebhookURL, of identifier: String, by key: String) async throws -> WebhookEndpoint {
        _ = try await endpoint(identifier)
        let record = recording(.urlChanged, of: identifier, by: key, detail: url.text)
        let found = try await ledger.write { transaction in
            let found = try transaction.setURL(url.text, ofWebhookEndpoint: identifier)
            if found != nil { try record(transaction) }
            return found
        }
        guard let found else { throw WebhookError.notFound }
        return found
    }

    /// Sets the header `Authorization` of an endpoint's messages.
    ///
    /// - Parameter authorization: Nil for none.
    /// - Throws: `WebhookError`, `notFound`.
    package func setAuthorization(
        _ authorization: WebhookAuthorization?,
        of identifier: String,
        by key: String
    ) async throws -> WebhookEndpoint {
        _ = try await endpoint(identifier)
        let record = recording(
            .authorizationChanged, of: identifier, by: key, detail: authorization == nil ? "removed" : "set")
        let found = try await ledger.write { transaction in
            let found = try transaction.setAuthorization(authorization, ofWebhookEndpoint: identifier)
            if found != nil { try record(transaction) }
            return found
        }
        guard let found else { throw WebhookError.notFound }
        return found
    }

    /// Replaces an endpoint's secret. Both secrets sign messages during the overlap.
    ///
    /// - Parameter seconds: The overlap. With 0, all previous secrets end now.
    /// - Throws: `WebhookError`, `notFound`, `secretBeingReplaced`.
    package func replaceSecret(
        of identifier: String,
        keepingPreviousFor seconds: Int64,
        by key: String
    ) async throws -> WebhookEndpoint {
        let (endpoint, now) = (try await endpoint(identifier), clock.now())
        // A receiver that has only the previous secret would have no valid one.
        guard seconds == 0 || endpoint.secrets(at: now).count == 1 else { throw WebhookError.secretBeingReplaced }
        let (secret, end) = (
            randomness.bytes(WebhookSecret.length),
            Timestamp(millisecondsSince1970: now.millisecondsSince1970 + seconds * 1000)
        )
        let record = recording(.secretReplaced, of: identifier, by: key, detail: String(seconds))
        let isReplaced = try await ledger.write { transaction in
            let isReplaced = try transaction.replace(
                endpoint.secret, with: secret, ending: end, ofWebhookEndpoint: identifier)
            if isReplaced { try record(transaction) }
            return isReplaced
        }
        // Another caller replaced the secret meanwhile.
        guard isReplaced else { throw WebhookError.secretBeingReplaced }
        return WebhookEndpoint(
            identifier: identifier, url: endpoint.url, format: endpoint.format, createdAt: endpoint.createdAt,
            createdBy: endpoint.createdBy, secret: secret,
            previousSecret: WebhookEndpoint.EndingSecret(bytes: endpoint.secret, endsAt: end),
            authorization: endpoint.authorization, app: endpoint.app)
    }

    /// - Throws: `WebhookError`, `notFound`.
    package func remove(_ identifier: String, by key: String) async throws {
        _ = try await endpoint(identifier)
        let record = recording(.removed, of: identifier, by: key)
        let isRemoved = try await ledger.write { transaction in
            guard try transaction.removeWebhookEndpoint(identifier, at: clock.now()) else { return false }
            try record(transaction)
            return true
        }
        guard isRemoved else { throw WebhookError.notFound }
    }
}
