import Proofs

/// An idempotency key, and the caller that sent it (`Idempotency-Key`).
package struct IdempotencyKey: Hashable, Sendable {
    /// The caller that sent the key. Two callers may use the same key.
    package let caller: String
    package let key: String

    package init(caller: String, key: String) {
        self.caller = caller
        self.key = key
    }

    /// The caller name of a user's app. It contains a space, and no API key's name does.
    package static func caller(_ user: User) -> String { "\(user.issuer) \(user.name)" }
}

/// An answer that the ledger keeps for a retry of the same request.
package struct KeptAnswer: Hashable, Sendable {
    /// The SHA-256 of the request. It detects a different request under the same key.
    package let requestDigest: [UInt8]
    package let bytes: [UInt8]

    package init(requestDigest: [UInt8], bytes: [UInt8]) {
        self.requestDigest = requestDigest
        self.bytes = bytes
    }
}
