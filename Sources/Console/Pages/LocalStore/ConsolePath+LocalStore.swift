import AppStore
import Foundation
import Proofs

extension ConsolePath {
    /// The page of a transaction of the local store, or the receiver of an action on it.
    static func storeTransaction(
        _ identifier: String, _ action: String? = nil, query: KeyValuePairs<String, String?> = [:]
    ) -> ConsolePath {
        ConsolePath(
            ["store", "transactions", identifier] + [action].compactMap(\.self), query: query.map { ($0, $1) })
    }

    /// The page of a payment in the local store's queue, or the receiver of an action on it.
    static func storePayment(
        _ identifier: Int64, _ action: String? = nil, query: KeyValuePairs<String, String?> = [:]
    ) -> ConsolePath {
        ConsolePath(
            ["store", "queue", String(identifier)] + [action].compactMap(\.self), query: query.map { ($0, $1) })
    }

    static func storeNotification(_ uuid: UUID, _ action: String? = nil, query: KeyValuePairs<String, String?> = [:])
        -> ConsolePath
    {
        ConsolePath(
            ["store", "notifications", uuid.uuidString.lowercased()] + [action].compactMap(\.self),
            query: query.map { ($0, $1) })
    }

    /// The page of an account. Its name is a parameter, because browsers resolve a segment such as "..".
    static func storeAccount(_ account: String, query: KeyValuePairs<String, String?> = [:]) -> ConsolePath {
        ConsolePath(["store", "account"], query: [("account", account)] + query.map { ($0, $1) })
    }

}
