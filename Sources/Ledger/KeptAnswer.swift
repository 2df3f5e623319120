import Commerce

/// What a caller calls a request that it may send again (`Idempotency-Key`).
public struct IdempotencyKey: Hashable, Sendable {
    /// Whose key it is: two callers may use the same.
    public let caller: String
    public let key: String

    public init(caller: String, key: String) {
        self.caller = caller
        self.key = key
    }

    /// How the app of a user is named as a caller. No API key's name has a space in it.
    public static func caller(_ user: User) -> String { "\(user.issuer) \(user.name)" }
}

/// An answer kept for whoever sends the same request again.
public struct KeptAnswer: Hashable, Sendable {
    /// The SHA-256 over the request, so that another under the same key is told apart.
    public let requestDigest: [UInt8]
    public let bytes: [UInt8]

    public init(requestDigest: [UInt8], bytes: [UInt8]) {
        self.requestDigest = requestDigest
        self.bytes = bytes
    }
}
