import Foundation
import Ledger
import Proofs
import Vocabulary

/// The part of a service's configuration on which answers about customers depend.
///
/// The service keeps it in the ledger at its start, so that commands over the same ledger answer as the service does.
package struct KeptConfiguration: Codable, Hashable, Sendable {
    package struct KeptApp: Codable, Hashable, Sendable {
        package let bundleIdentifier: String
        /// The absolute path of the catalog's folder; nil for the sample catalog.
        package let catalog: String?
        package let appAppleIdentifier: Int64?

        package init(bundleIdentifier: String, catalog: String?, appAppleIdentifier: Int64?) {
            (self.bundleIdentifier, self.catalog, self.appAppleIdentifier) = (
                bundleIdentifier, catalog, appAppleIdentifier
            )
        }
    }

    private struct KeptUser: Codable, Hashable {
        let user: User

        private enum CodingKeys: String, CodingKey { case issuer, name }

        init(_ user: User) { self.user = user }

        /// - Throws: `DecodingError` for a name that this version does not accept. Without the user, the configuration would be another one.
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let issuer = try container.decode(String.self, forKey: .issuer)
            guard let user = User(issuer: issuer, name: try container.decode(String.self, forKey: .name)) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .name, in: container, debugDescription: "The name is not one of a user.")
            }
            self.user = user
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(user.issuer, forKey: .issuer)
            try container.encode(user.name, forKey: .name)
        }
    }

    package let apps: [KeptApp]
    private let origins: [Origin]
    private let sandboxUsers: [KeptUser]
    /// The moment before which a purchase of Google Play that is consumed at its first redemption is refused; nil to grant each once.
    package let consumedRefusedBefore: Timestamp?
    package let sendsWebhooks: Bool
    /// True if suites may reset the ledger (`LedgerReset`).
    package let allowsReset: Bool
    /// False for a command that has played the service, as `till buy` does.
    package let isOfService: Bool

    package init(
        apps: [KeptApp], accepted: AcceptedOrigins, consumedRefusedBefore: Timestamp? = nil, sendsWebhooks: Bool,
        allowsReset: Bool, isOfService: Bool
    ) {
        self.consumedRefusedBefore = consumedRefusedBefore
        (self.apps, self.sendsWebhooks) = (apps, sendsWebhooks)
        (self.allowsReset, self.isOfService) = (allowsReset, isOfService)
        origins = accepted.origins.sorted { $0.rawValue < $1.rawValue }
        sandboxUsers = accepted.sandboxUsers.sorted { ($0.issuer, $0.name) < ($1.issuer, $1.name) }
            .map { KeptUser($0) }
    }

    package var accepted: AcceptedOrigins {
        AcceptedOrigins(Set(origins), sandboxUsers: Set(sandboxUsers.map(\.user)))
    }
}

/// The accepted origins of a kept configuration, also of one of another version.
private struct KeptOrigins: Decodable {
    let origins: [Origin]
}

extension LedgerTransaction {
    private static let keptSubject = "service"
    /// The row that stays, once a service has accepted an origin with customers.
    private static let customersSubject = "customers"

    private func keptContent(of subject: String) throws -> Data? {
        guard try database.has("kept_configuration") else { return nil }
        let content: String? = try database.value(
            "SELECT content FROM kept_configuration WHERE subject = $1", [subject])
        return content.map { Data($0.utf8) }
    }

    /// The configuration of the service that was started last; nil if none has been, or one of another version.
    package func keptConfiguration() throws -> KeptConfiguration? {
        try keptContent(of: Self.keptSubject).flatMap { try? JSONDecoder().decode(KeptConfiguration.self, from: $0) }
    }

    /// True if a service has run over the ledger that accepts purchases of a store with customers. A configuration whose origins cannot
    /// be read may be of such a service.
    private func hasServedCustomers() throws -> Bool {
        if try keptContent(of: Self.customersSubject) != nil { return true }
        guard let content = try keptContent(of: Self.keptSubject) else { return false }
        return (try? JSONDecoder().decode(KeptOrigins.self, from: content))?.origins.allSatisfy(\.isLocal) != true
    }

    /// Keeps the configuration of a service. A command that plays one does not replace it.
    ///
    /// - Throws: `LedgerResetError.hasCustomers` for one that allows resets, if this or an earlier service accepts an origin with
    ///   customers.
    package func keep(_ configuration: KeptConfiguration) throws {
        if try hasServedCustomers() || !configuration.accepted.origins.allSatisfy(\.isLocal) {
            guard !configuration.allowsReset else { throw LedgerResetError.hasCustomers }
            try database.insert(
                into: "kept_configuration", ["subject", "content"], [[Self.customersSubject, "true"]], isNew: false)
        }
        let known = try keptConfiguration()
        guard known != configuration, configuration.isOfService || known?.isOfService != true else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        _ = try database.execute(
            """
            INSERT INTO kept_configuration (subject, content) VALUES ($1, $2)
            ON CONFLICT (subject) DO UPDATE SET content = excluded.content
            """,
            [Self.keptSubject, String(decoding: try encoder.encode(configuration), as: UTF8.self)])
    }

    /// Requires the permission of the service that was started last, and no service with customers.
    ///
    /// - Throws: `LedgerResetError`.
    fileprivate func requireResets() throws {
        guard try !hasServedCustomers(), try !hasExternalTransactions(of: .google),
            try !hasExternalPurchases(of: .appleProduction)
        else {
            throw LedgerResetError.hasCustomers
        }
        guard try keptConfiguration()?.allowsReset == true else { throw LedgerResetError.notAllowed }
        // A service that is started meanwhile writes the row, too. One of both runs again, and sees the other: `TRUNCATE` would also
        // delete what that service sells.
        try database.execute(
            "UPDATE kept_configuration SET content = content WHERE subject = $1", [Self.keptSubject])
    }
}

extension Ledger {
    /// Resets the ledger for a suite (`LedgerReset`), if the service that was started last allows it, and none had customers.
    ///
    /// - Throws: `LedgerResetError`; `StorageFault`.
    package func reset(at moment: Timestamp) async throws -> LedgerReset {
        try await write { transaction in
            try transaction.requireResets()
            return try transaction.reset(at: moment)
        }
    }
}

extension Table {
    /// The configuration of the service that was started last, as JSON, and a row that no reset and no other service deletes once one
    /// has accepted an origin with customers.
    static let keptConfiguration = Table(
        name: "kept_configuration", family: .everywhere, columns: [.text("subject"), .text("content")], key: ["subject"]
    )
}
