import Proofs

/// The secret that signs a webhook's messages, in the format of Standard Webhooks: `whsec_` and 32 bytes in base64.
package struct WebhookSecret: Hashable, Sendable, CustomStringConvertible {
    /// The number of bytes of a generated secret.
    static let length = 32
    /// The smallest number of bytes of a foreign secret (Standard Webhooks, "Signature scheme").
    private static let minimumLength = 24
    private static let maximumTextLength = 128
    private static let prefix = "whsec_"

    let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// - Parameter text: `whsec_` and the bytes in base64.
    /// - Returns: Nil for a text of another form.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), text.utf8.count <= Self.maximumTextLength,
            let bytes = Base64.decode(text.utf8.dropFirst(Self.prefix.utf8.count)), bytes.count >= Self.minimumLength
        else { return nil }
        self.bytes = bytes
    }

    package var description: String { Self.prefix + Base64.encode(bytes) }

    /// The signature of a message: `v1,` and an HMAC-SHA256 in base64 (Standard Webhooks, "Signature scheme").
    func signature(of content: [UInt8]) -> String {
        "v1," + Base64.encode(MessageAuthentication.hmacSHA256(of: content, secret: bytes))
    }
}
