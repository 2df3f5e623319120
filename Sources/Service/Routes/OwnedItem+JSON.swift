import Features
import HTTPSupport
import Proofs

// Written member by member for the reason in Redemption+JSON.swift. The same test measures it.

extension OwnedItem {
    /// The JSON of an `OwnedItemResource`.
    package var json: JSONValue {
        var object = JSONObject()
        func add(_ key: String, _ text: String?) {
            if let text { _ = object.add(key, .string(text)) }
        }
        add("collection", item.collection)
        add("grant", grantIdentifier)
        _ = object.add("number", .integer(item.number))
        add("origin", transaction?.origin.rawValue)
        add("originalTransactionId", transaction?.originalTransactionIdentifier)
        add("productId", transaction?.productIdentifier)
        if let renews { _ = object.add("renews", .bool(renews)) }
        add("since", since?.rfc3339)
        add("source", sourceName)
        add("state", state.rawValue)
        add("transactionId", transaction?.transactionIdentifier)
        add("until", until?.rfc3339)
        return .object(object)
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
