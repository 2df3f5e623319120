import Features
import HTTPSupport
import Proofs

extension Item {
    var json: JSONValue {
        .object(["collection": .string(collection), "number": .integer(number)])
    }
}

extension OwnedItem {
    /// The JSON of an `OwnedItemResource`.
    package var json: JSONValue {
        func text(_ text: String?) -> JSONValue? { text.map { .string($0) } }
        return .present([
            "collection": .string(item.collection),
            "grant": text(grantIdentifier),
            "number": .integer(item.number),
            "origin": text(transaction?.origin.rawValue),
            "originalTransactionId": text(transaction?.originalTransactionIdentifier),
            "productId": text(transaction?.productIdentifier),
            "renews": renews.map { .bool($0) },
            "since": text(since?.rfc3339),
            "source": text(sourceName),
            "state": text(state.rawValue),
            "transactionId": text(transaction?.transactionIdentifier),
            "until": text(until?.rfc3339),
        ])
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

extension UserRight {
    /// The item with the right's name.
    var json: JSONValue {
        var object: JSONObject = ["name": .string(name)]
        if case .object(let owned) = item.json {
            for member in owned.members { _ = object.add(member.key, member.value) }
        }
        return .object(object)
    }
}
