/// A message that Pub/Sub pushes: the body of the request (Pub/Sub, "Push subscriptions"). Only the identity token of the request says
/// who has sent it.
package struct PubSubMessage: Sendable {
    /// The maximum size of the body in bytes. That of a notification of Google Play has about 1 KB.
    package static let maximumSize = 64 << 10
    /// The maximum length of a message's identifier in bytes. Those of Pub/Sub have up to 20 digits.
    private static let maximumIdentifierSize = 128
    private static let maximumDepth = 8

    /// The identifier, unique within the topic. A repeated delivery has the same one.
    package let identifier: String
    package let data: [UInt8]
    /// Nil if the message does not state it.
    package let publishedAt: Timestamp?

    /// - Throws: `PushedFormError` for another form, such as that of a subscription that unwraps its messages.
    package init(json bytes: [UInt8]) throws(PushedFormError) {
        let limits = JSONParser.Limits(bytes: Self.maximumSize, depth: Self.maximumDepth)
        guard case .object(let envelope)? = try? JSONParser.parse(bytes, limits: limits),
            case .object(let message)? = envelope["message"]
        else {
            throw PushedFormError(
                "The body must be a JSON object with a message of Pub/Sub. Let the subscription push wrapped messages.")
        }
        identifier = try Self.identifier(message)
        guard case .string(let text)? = message["data"], let data = Base64.decode(text.utf8) else {
            throw PushedFormError("The message must have data in base64.")
        }
        self.data = data
        publishedAt = Self.text(message, "publishTime", "publish_time").flatMap { Timestamp(rfc3339: $0) }
    }

    /// Pub/Sub sends two spellings of the name, with the same value.
    private static func identifier(_ message: JSONObject) throws(PushedFormError) -> String {
        guard let identifier = text(message, "messageId", "message_id"), !identifier.isEmpty,
            identifier.utf8.count <= maximumIdentifierSize, identifier.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw PushedFormError(
                "The message must have a messageId of 1 to \(maximumIdentifierSize) visible ASCII characters.")
        }
        if case .string(let other)? = message["message_id"], !other.hasSameBytes(as: identifier) {
            throw PushedFormError("The message must have the same messageId and message_id.")
        }
        return identifier
    }

    private static func text(_ object: JSONObject, _ name: String, _ otherName: String) -> String? {
        if case .string(let text)? = object[name] ?? object[otherName] { text } else { nil }
    }
}

/// A pushed text of another form than that of Pub/Sub, or of Google Play.
package struct PushedFormError: Error, Equatable {
    /// The sentence: what is wrong, then what to do.
    package let message: String

    init(_ message: String) { self.message = message }
}
