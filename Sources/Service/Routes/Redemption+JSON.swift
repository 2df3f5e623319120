import HTTPSupport
import Proofs

// The most frequent answers are written member by member: an answer takes 4.7 µs, with `JSONEncoder` 10.5 µs. To measure both, run
// `TILL_MEASURE=1 swift test -c release --disable-testable-imports --filter RedemptionJSONTests`.

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
