import Foundation
import GRDB
import HTTPSupport
import Proofs

/// The App Store Server API of the store, with Apple's names: the requests of a developer's server about transactions,
/// subscriptions and notifications.
///
/// Its functions throw `ServerAPIError` for Apple's errors, and `StoreError` for errors of the store itself.
extension Books {
    /// The identifier of an auto-renewable subscription.
    func subscriptionProduct(_ identifier: String?) throws(ServerAPIError) -> String {
        guard let identifier, configuration.product(identifier)?.subscription != nil else { throw .invalidProductId }
        return identifier
    }

    /// The sale of a transaction identifier.
    ///
    /// - Parameter notFound: The error for an identifier that the store does not know.
    /// - Throws: `ServerAPIError`.
    func apiTransaction(
        _ identifier: String,
        orThrow notFound: ServerAPIError = .transactionIdNotFound
    ) throws -> Transaction {
        guard Self.isIdentifier(identifier) else { throw ServerAPIError.invalidTransactionId }
        if let transaction = try transactions.transaction(identifier) { return transaction }
        throw issuer.isAppTransactionIdentifier(identifier) ? .appTransactionIdNotSupported : notFound
    }

    /// The account of any of its transaction identifiers, or of its app transaction identifier.
    ///
    /// - Returns: Nil for the app transaction of an account that has bought nothing.
    /// - Throws: `ServerAPIError`.
    func apiAccount(ofAny identifier: String) throws -> String? {
        guard Self.isIdentifier(identifier) else { throw ServerAPIError.invalidTransactionId }
        if let transaction = try transactions.transaction(identifier) { return transaction.account }
        guard issuer.isAppTransactionIdentifier(identifier) else { throw ServerAPIError.transactionIdNotFound }
        return try transactions.accounts().first { issuer.appTransactionIdentifier(of: $0) == identifier }
    }

    /// `GET /inApps/v1/transactions/appTransactions/{anyTransactionId}`
    func appTransactionInfo(_ anyTransactionId: String) throws -> String {
        let account = try apiAccount(ofAny: anyTransactionId)
        return try issuer.signedAppTransaction(
            account.map(issuer.appTransactionIdentifier(of:)) ?? anyTransactionId,
            at: try account.map(now(of:)) ?? now)
    }

    /// The first purchase by the customer, by its own transaction identifier.
    ///
    /// - Parameter notFound: The error for an identifier that the store does not know.
    /// - Throws: `ServerAPIError`.
    func apiOriginalTransaction(_ identifier: String, orThrow notFound: ServerAPIError) throws -> Transaction {
        let transaction = try apiTransaction(identifier, orThrow: notFound)
        guard transaction.originalTransactionIdentifier == identifier else {
            throw ServerAPIError.transactionIdNotOriginalTransactionId
        }
        guard transaction.ownership == .purchased else { throw ServerAPIError.familyTransactionNotSupported }
        return transaction
    }

    static func isIdentifier(_ text: String) -> Bool {
        (1...40).contains(text.utf8.count)
            && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}

package struct StatusResponse: Encodable, Sendable {
    package struct SubscriptionGroupIdentifierItem: Codable, Sendable {
        package let subscriptionGroupIdentifier: String
        package internal(set) var lastTransactions: [LastTransactionsItem]
    }

    package struct LastTransactionsItem: Codable, Sendable {
        package let status: Status
        package let originalTransactionId: String
        package let signedTransactionInfo: String
        package let signedRenewalInfo: String
    }

    package let environment: AppStoreEnvironment
    package let bundleId: String
    /// Nil in the sandbox, as in each payload.
    package let appAppleId: Int64?
    package let data: [SubscriptionGroupIdentifierItem]
}

extension Books {
    /// `GET /inApps/v1/subscriptions/{anyTransactionId}`
    ///
    /// - Parameter statuses: The requested statuses, as the query has them; empty for all.
    package func allSubscriptionStatuses(_ anyTransactionId: String, statuses: [String]) throws -> StatusResponse {
        let wanted = try Set(
            statuses.map { text throws(ServerAPIError) in
                guard let status = Int(text).flatMap(Status.init) else { throw .invalidStatus }
                return status
            })
        let found = try (apiAccount(ofAny: anyTransactionId).map(subscriptions.subscriptions(of:)) ?? [])
            .filter { wanted.isEmpty || wanted.contains($0.status) }
        return StatusResponse(
            environment: issuer.environment, bundleId: issuer.bundleIdentifier, appAppleId: issuer.appAppleIdentifier,
            data: try statusItems(found))
    }

    /// The last transactions in each group: of the subscription that a customer has bought, and of those that follow other customers'.
    func statusItems(
        _ subscriptions: [CustomerSubscription]
    ) throws -> [StatusResponse.SubscriptionGroupIdentifierItem] {
        var items: [StatusResponse.SubscriptionGroupIdentifierItem] = []
        for subscription in subscriptions {
            guard let latest = try transactions.latest(original: subscription.originalTransactionIdentifier) else {
                continue
            }
            let last = StatusResponse.LastTransactionsItem(
                status: subscription.status, originalTransactionId: subscription.originalTransactionIdentifier,
                signedTransactionInfo: try signed(latest),
                signedRenewalInfo: try issuer.signedRenewalInfo(subscription, try terms(of: subscription.account)))
            let group = subscription.groupIdentifier
            if let index = items.firstIndex(where: { $0.subscriptionGroupIdentifier == group }) {
                items[index].lastTransactions.append(last)
            } else {
                items.append(.init(subscriptionGroupIdentifier: group, lastTransactions: [last]))
            }
        }
        return items
    }
}

struct OrderLookupResponse: Encodable, Sendable {
    /// 0 if the order exists, else 1, as in Apple's API.
    let status: Int
    /// Nil if the order does not exist.
    let signedTransactions: [String]?
}

extension Books {
    /// `PUT /inApps/v1/transactions/{originalTransactionId}/appAccountToken`: for a subscription, later periods have it too.
    func setAppAccountToken(_ token: String?, of originalTransactionId: String) throws {
        var transaction = try apiOriginalTransaction(originalTransactionId, orThrow: .originalTransactionIdNotFound)
        guard let token = token.flatMap(UUID.init(uuidString:)) else {
            throw ServerAPIError.invalidAppAccountTokenUUID
        }
        if var subscription = try subscriptionOrNone(of: transaction) {
            subscription.appAccountToken = token
            try subscriptions.save(subscription)
            transaction = try transactions.latest(original: originalTransactionId) ?? transaction
        }
        transaction.appAccountToken = token
        try transactions.update(transaction)
    }

    func signed(_ transaction: Transaction) throws -> String {
        try issuer.signedTransaction(transaction, at: try now(of: transaction.account))
    }
}

/// A key that signs the requests of a developer's server (App Store Connect, "In-App Purchase key").
package struct TeamKey: Hashable, Sendable {
    /// The `kid` of its tokens.
    package let keyIdentifier: String
    /// The `iss` of its tokens.
    package let issuerIdentifier: String
    /// The public key in PEM.
    package let publicKey: String
}

extension Store {
    /// Makes a key. The store keeps only the public key.
    ///
    /// - Parameter keep: Receives the key and its private key in PEM (PKCS#8, a `.p8` file). If it throws, no key is made.
    package func makeTeamKey(
        keepingPrivateKey keep: (_ key: TeamKey, _ privateKey: String) throws -> Void
    ) throws -> TeamKey {
        let pair: PrivateKey
        let pem: (public: String, private: String)
        do {
            pair = try PrivateKey.generate(.p256)
            pem = (try pair.publicKey.pem(), try pair.pem())
        } catch { throw StoreError.signingFailed("\(error)") }
        return try writeOrThrow { books in
            let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
            let identifier = String(books.randomness.bytes(10).map { alphabet[Int($0) % alphabet.count] })
            let key = TeamKey(
                keyIdentifier: identifier, issuerIdentifier: try books.issuerIdentifier(),
                publicKey: pem.public)
            try books.database.insert(
                ["key_id": identifier, "issuer_id": key.issuerIdentifier, "public_key": key.publicKey],
                into: "team_key")
            try keep(key, pem.private)
            return key
        }
    }
}

extension Books {
    /// The issuer identifier of the team, the same for all its keys.
    fileprivate func issuerIdentifier() throws -> String {
        try teamKeys().first?.issuerIdentifier ?? UUID(randomness: randomness).lowercasedString
    }

    package func teamKeys() throws -> [TeamKey] {
        try teamKeyQueue?.read(Self.teamKeys) ?? Self.teamKeys(in: database)
    }

    @Sendable private static func teamKeys(in database: Database) throws -> [TeamKey] {
        try Row.fetchAll(database, sql: "SELECT * FROM team_key ORDER BY rowid").map {
            TeamKey(keyIdentifier: $0["key_id"], issuerIdentifier: $0["issuer_id"], publicKey: $0["public_key"])
        }
    }
}
