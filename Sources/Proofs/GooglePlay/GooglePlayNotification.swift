/// A real-time developer notification of Google Play (`DeveloperNotification`): something about a purchase has changed.
///
/// It states no state. The Play Developer API says what counts. It is a class, so that it is passed as a pointer
/// (swiftlang/swift#90477).
package final class GooglePlayNotification: Sendable {
    /// The kinds of notifications. Each is a member of the notification, which has exactly one of them.
    package enum Kind: String, Sendable, CaseIterable {
        case subscription = "subscriptionNotification"
        case oneTimeProduct = "oneTimeProductNotification"
        case voidedPurchase = "voidedPurchaseNotification"
        case pendingRefundReview = "pendingRefundReviewNotification"
        case test = "testNotification"
    }

    package let packageName: String
    package let eventTime: Timestamp
    /// Nil for a kind that is newer than Till.
    package let kind: Kind?
    /// The type, in Google's words: `SUBSCRIPTION_RENEWED`, `ONE_TIME_PRODUCT_CANCELED`, `VOIDED_PURCHASE`, `TEST`. A number without a
    /// word is in its place: `SUBSCRIPTION_21`.
    package let type: String
    /// The kind of a refund, in Google's words; nil for other notifications.
    package let subtype: String?
    /// Nil for a notification that is not about a purchase token.
    package let purchaseToken: String?
    /// The order of a voided purchase, or of a disputed payment. Nil for other notifications, and for an order of another form.
    package let orderId: String?
    /// The token with which a question about a disputed payment is answered. Nil for other notifications, and for a token of another form.
    package let pendingRefundToken: String?
    /// True for a subscription, false for one-time products; nil if the notification does not say.
    package let isSubscription: Bool?
    /// The notification as JSON, without its tokens.
    package let content: String

    /// - Parameter bytes: The data of a message.
    /// - Throws: `PushedFormError` for another form.
    package init(json bytes: [UInt8]) throws(PushedFormError) {
        guard case .object(let object)? = try? JSONParser.parse(bytes, limits: PubSubMessage.limits) else {
            throw PushedFormError("The data must be a notification of Google Play: a JSON object.")
        }
        guard let name = object.text("packageName"), AppKey.isPackageName(name) else {
            throw PushedFormError("The notification must have the packageName of an app.")
        }
        packageName = name
        guard let milliseconds = Self.integer(object["eventTimeMillis"]),
            (0...Timestamp.endOfYear9999).contains(milliseconds)
        else {
            throw PushedFormError("The notification must have an eventTimeMillis in milliseconds since 1970.")
        }
        eventTime = Timestamp(millisecondsSince1970: milliseconds)
        let found = Kind.allCases.filter { object[$0.rawValue] != nil }
        guard found.count <= 1 else {
            throw PushedFormError("The notification must be about one thing, not about several.")
        }
        kind = found.first
        content = Self.withoutTokens(.object(object)).compactText
        guard let kind else {
            type = Self.type(ofMember: object.keys.first { $0.hasSuffix(Self.suffix) } ?? "")
            (subtype, purchaseToken, orderId, pendingRefundToken, isSubscription) = (nil, nil, nil, nil, nil)
            return
        }
        guard case .object(let subject)? = object[kind.rawValue] else {
            throw PushedFormError("The member \(kind.rawValue) must be an object.")
        }
        type = try Self.type(of: kind, subject)
        purchaseToken = try Self.token(of: kind, subject)
        orderId = Self.word("orderId", in: subject, upTo: GooglePlayAnswer.maximumOrderSize)
        pendingRefundToken =
            kind == .pendingRefundReview
            ? Self.word("pendingRefundToken", in: subject, upTo: Self.maximumRefundTokenSize) : nil
        switch kind {
        case .subscription: isSubscription = true
        case .oneTimeProduct: isSubscription = false
        case .voidedPurchase: isSubscription = [1: true, 2: false][Self.integer(subject["productType"]) ?? 0]
        case .pendingRefundReview, .test: isSubscription = nil
        }
        subtype = kind == .voidedPurchase ? Self.integer(subject["refundType"]).flatMap { Self.refundTypes[$0] } : nil
    }

    private static func token(of kind: Kind, _ subject: JSONObject) throws(PushedFormError) -> String? {
        switch kind {
        case .test, .pendingRefundReview: return nil
        case .subscription, .oneTimeProduct, .voidedPurchase: break
        }
        guard let token = subject.text("purchaseToken"), GooglePlayToken.isToken(token) else {
            throw PushedFormError(
                "The member \(kind.rawValue) must have a purchaseToken of 1 to \(GooglePlayPurchase.maximumTokenSize) "
                    + "visible ASCII characters.")
        }
        return token
    }

    /// Google documents no length. A notification has about 1 KB.
    private static let maximumRefundTokenSize = 2048

    private static func word(_ name: String, in subject: JSONObject, upTo maximumSize: Int) -> String? {
        guard let text = subject.text(name), (1...maximumSize).contains(text.utf8.count), text.isVisibleASCII else {
            return nil
        }
        return text
    }

    /// A whole number, also as a text, as JSON of Google has those of 64 bits.
    private static func integer(_ value: JSONValue?) -> Int64? {
        switch value {
        case .number(let number): number.int64
        case .string(let text) where text.utf8.count <= 20: Int64(text)
        default: nil
        }
    }

    /// The value without purchase tokens, those of refunds, and those that Google may add.
    private static func withoutTokens(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let object):
            var rest = JSONObject()
            for member in object.members where !member.key.lowercased().hasSuffix("token") {
                _ = rest.add(member.key, withoutTokens(member.value))
            }
            return .object(rest)
        case .array(let elements): return .array(elements.map(withoutTokens))
        case .string, .number, .bool, .null: return value
        }
    }

}

/// The types in Google's words (Google Play, "Real-time developer notifications reference guide").
extension GooglePlayNotification {
    private static let suffix = "Notification"
    private static let maximumTypeSize = 64

    private static let subscriptionTypes: [Int64: String] = [
        1: "RECOVERED", 2: "RENEWED", 3: "CANCELED", 4: "PURCHASED", 5: "ON_HOLD", 6: "IN_GRACE_PERIOD", 7: "RESTARTED",
        8: "PRICE_CHANGE_CONFIRMED", 9: "DEFERRED", 10: "PAUSED", 11: "PAUSE_SCHEDULE_CHANGED", 12: "REVOKED",
        13: "EXPIRED", 17: "ITEMS_CHANGED", 18: "CANCELLATION_SCHEDULED", 19: "PRICE_CHANGE_UPDATED",
        20: "PENDING_PURCHASE_CANCELED", 22: "PRICE_STEP_UP_CONSENT_UPDATED",
    ]

    private static let oneTimeTypes: [Int64: String] = [1: "PURCHASED", 2: "CANCELED"]

    private static let refundTypes: [Int64: String] = [
        1: "FULL_REFUND", 2: "QUANTITY_BASED_PARTIAL_REFUND",
    ]

    private static func type(of kind: Kind, _ subject: JSONObject) throws(PushedFormError) -> String {
        let (prefix, names): (String, [Int64: String])
        switch kind {
        case .subscription: (prefix, names) = ("SUBSCRIPTION", subscriptionTypes)
        case .oneTimeProduct: (prefix, names) = ("ONE_TIME_PRODUCT", oneTimeTypes)
        case .voidedPurchase, .pendingRefundReview, .test: return type(ofMember: kind.rawValue)
        }
        guard let number = integer(subject["notificationType"]), Int32(exactly: number) != nil else {
            throw PushedFormError("The member \(kind.rawValue) must have a number as its notificationType.")
        }
        return "\(prefix)_\(names[number] ?? String(number))"
    }

    /// The name of a member in capital letters: `VOIDED_PURCHASE` of `voidedPurchaseNotification`.
    private static func type(ofMember name: String) -> String {
        guard name.utf8.count <= maximumTypeSize, name.hasSuffix(suffix), name.utf8.count > suffix.utf8.count,
            name.utf8.allSatisfy({ (0x61...0x7A).contains($0 | 0x20) })
        else { return "UNKNOWN" }
        return name.dropLast(suffix.count).reduce(into: "") { text, letter in
            if letter.isUppercase, !text.isEmpty { text.append("_") }
            text.append(contentsOf: letter.uppercased())
        }
    }
}

/// A message that Pub/Sub pushes: the body of the request (Pub/Sub, "Push subscriptions"). Only the identity token of the request says
/// who has sent it.
package struct PubSubMessage: Sendable {
    /// The maximum size of the body in bytes. That of a notification of Google Play has about 1 KB.
    package static let maximumSize = 64 << 10
    /// The maximum length of a message's identifier in bytes. Those of Pub/Sub have up to 20 digits.
    private static let maximumIdentifierSize = 128
    /// The limits of the body, and of the data in it.
    fileprivate static let limits = JSONParser.Limits(bytes: maximumSize, depth: 8)

    /// The identifier, unique within the topic. A repeated delivery has the same one.
    package let identifier: String
    package let data: [UInt8]
    /// Nil if the message does not state it.
    package let publishedAt: Timestamp?

    /// - Throws: `PushedFormError` for another form, such as that of a subscription that unwraps its messages.
    package init(json bytes: [UInt8]) throws(PushedFormError) {
        guard case .object(let envelope)? = try? JSONParser.parse(bytes, limits: Self.limits),
            case .object(let message)? = envelope["message"]
        else {
            throw PushedFormError(
                "The body must be a JSON object with a message of Pub/Sub. Let the subscription push wrapped messages.")
        }
        identifier = try Self.identifier(message)
        guard let text = message.text("data"), let data = Base64.decode(text.utf8) else {
            throw PushedFormError("The message must have data in base64.")
        }
        self.data = data
        publishedAt = Self.text(message, "publishTime", "publish_time").flatMap { Timestamp(rfc3339: $0) }
    }

    /// Pub/Sub sends two spellings of the name, with the same value.
    private static func identifier(_ message: JSONObject) throws(PushedFormError) -> String {
        guard let identifier = text(message, "messageId", "message_id"), !identifier.isEmpty,
            identifier.utf8.count <= maximumIdentifierSize, identifier.isVisibleASCII
        else {
            throw PushedFormError(
                "The message must have a messageId of 1 to \(maximumIdentifierSize) visible ASCII characters.")
        }
        if let other = message.text("message_id"), !other.hasSameBytes(as: identifier) {
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
