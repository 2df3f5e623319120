import Commerce
import Entitlements
import HTTPSupport
import StrictJSON

// Written member by member for the reason that Redemption+JSON.swift gives. The same test measures it.

extension OwnedItem {
    /// The JSON of an `OwnedItemResource`.
    package var json: JSONValue {
        .object(
            JSONObject(present: [
                "collection": .string(item.collection),
                "grant": grantIdentifier.map { .string($0) },
                "number": .integer(item.number),
                "origin": transaction.map { .string($0.origin.rawValue) },
                "originalTransactionId": transaction.map { .string($0.originalTransactionIdentifier) },
                "productId": transaction.map { .string($0.productIdentifier) },
                "renews": renews.map { .bool($0) },
                "since": since.map { .string($0.rfc3339) },
                "source": .string(sourceName),
                "state": .string(state.rawValue),
                "transactionId": transaction.map { .string($0.transactionIdentifier) },
                "until": until.map { .string($0.rfc3339) },
            ]))
    }

    private var grantIdentifier: String? {
        if case .grant(let identifier) = source { identifier } else { nil }
    }

    private var sourceName: String {
        switch source {
        case .purchase: "purchase"
        case .grant: "grant"
        case .rule: "rule"
        }
    }
}
