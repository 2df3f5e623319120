import Proofs

/// An idempotency key, and the caller that sent it (`Idempotency-Key`).
public struct IdempotencyKey: Hashable, Sendable {
    /// The caller that sent the key. Two callers may use the same key.
    public let caller: String
    public let key: String

    public init(caller: String, key: String) {
        self.caller = caller
        self.key = key
    }

    /// The caller name of a user's app. It contains a space, and no API key's name does.
    public static func caller(_ user: User) -> String { "\(user.issuer) \(user.name)" }
}

/// An answer that the ledger keeps for a retry of the same request.
public struct KeptAnswer: Hashable, Sendable {
    /// The SHA-256 of the request. It detects a different request under the same key.
    public let requestDigest: [UInt8]
    public let bytes: [UInt8]

    public init(requestDigest: [UInt8], bytes: [UInt8]) {
        self.requestDigest = requestDigest
        self.bytes = bytes
    }
}
