import Signatures

/// What a webhook's messages are signed with, in the form of Standard Webhooks: `whsec_` and 32 bytes in base64.
public struct WebhookSecret: Hashable, Sendable, CustomStringConvertible {
    /// In bytes.
    static let length = 32

    let bytes: [UInt8]

    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    public var description: String { "whsec_" + Base64.encode(bytes) }

    /// The signature of a message: `v1,` and an HMAC-SHA256 in base64 (Standard Webhooks, "Signature scheme").
    func signature(of content: [UInt8]) -> String {
        "v1," + Base64.encode(MessageAuthentication.hmacSHA256(of: content, secret: bytes))
    }
}
