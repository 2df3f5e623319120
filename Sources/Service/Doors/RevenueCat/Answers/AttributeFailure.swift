import Proofs

/// The reason why an attribute is not recorded.
package struct AttributeFailure: Hashable, Sendable {
    let name: String
    let message: String
}

extension [AttributeFailure] {
    var json: JSONValue {
        .array(map { .object(["key_name": .string($0.name), "message": .string($0.message)]) })
    }
}
