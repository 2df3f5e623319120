import Commerce
import HTTPSupport
import StrictJSON

// What is asked for most is written member by member: `Encodable` takes as long for it as the question to the ledger.

extension Item {
    var json: JSONValue {
        .object(["collection": .string(collection), "number": .integer(number)])
    }
}

extension Redemption {
    package var json: JSONValue {
        .object([
            "items": .array(items.map(\.json)), "outcome": .string(outcome.rawValue),
            "transactions": .array(transactions.map(\.json)),
        ])
    }
}

extension Redemption.Line {
    fileprivate var json: JSONValue {
        .object([
            "mayFinish": .bool(mayFinish), "productId": .string(productId), "result": .string(result.rawValue),
            "transactionId": .string(transactionId),
        ])
    }
}
