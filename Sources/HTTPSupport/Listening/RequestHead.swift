import HTTPTypes

/// The rules for the head of a request. They apply before anything compares, hashes or decodes it.
package enum RequestHead {
    /// The maximum length of a request target, in bytes.
    package static let maximumTargetLength = 8 * 1024
    /// The maximum length of a header field, in bytes. NIO refuses a longer one.
    package static let maximumFieldLength = 8 * 1024

    /// The header fields that Till or Hummingbird reads. All others are removed.
    package static let readFields: Set<HTTPField.Name> = Set(
        [
            .accessControlRequestHeaders, .authorization, .acceptLanguage, .connection, .contentLength, .contentType,
            .cookie, .ifMatch, .ifNoneMatch, .origin,
        ]
            + [
                .forwardedFor, .idempotencyKey, .idToken, .lastEventID, .revenueCatEntityTag, .secFetchDest,
                .secFetchSite,
            ].compactMap(\.self))

    /// The reason to refuse a head.
    package enum Refusal: String, Sendable {
        case targetNotASCII, targetTooLong, fieldNotASCII

        package var sentence: String {
            switch self {
            case .targetNotASCII: "The request target contains a byte above 0x7F. Percent-encode it."
            case .targetTooLong:
                "The request target has more than \(RequestHead.maximumTargetLength) bytes. Send a shorter one."
            case .fieldNotASCII: "A header field contains a byte above 0x7F. Send ASCII."
            }
        }
    }

    /// Removes the fields that nothing reads.
    ///
    /// - Returns: The head, or a refusal if a field or the target contains a byte above 0x7F or the target is too long.
    package static func checked(_ head: HTTPRequest) -> Result<HTTPRequest, Refusal> {
        let target = head.path ?? ""
        guard target.utf8.count <= maximumTargetLength else { return .failure(.targetTooLong) }
        guard target.isASCII else { return .failure(.targetNotASCII) }
        guard head.authority?.isASCII ?? true else { return .failure(.fieldNotASCII) }
        var isWhole = true
        for field in head.headerFields {
            guard readFields.contains(field.name) else {
                isWhole = false
                continue
            }
            guard field.value.isASCII else { return .failure(.fieldNotASCII) }
        }
        // A head without unread fields is returned without a copy.
        if isWhole { return .success(head) }
        var read = head
        read.headerFields = HTTPFields(head.headerFields.filter { readFields.contains($0.name) })
        return .success(read)
    }
}

extension RequestHead.Refusal: Error {}

extension String {
    fileprivate var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }
}

extension HTTPField.Name {
    package static let forwardedFor = Self("X-Forwarded-For")
    package static let idempotencyKey = Self("Idempotency-Key")
    package static let idToken = Self("idtoken")
    package static let lastEventID = Self("Last-Event-ID")
    package static let revenueCatEntityTag = Self("X-RevenueCat-ETag")
    package static let secFetchDest = Self("Sec-Fetch-Dest")
    package static let secFetchSite = Self("Sec-Fetch-Site")
    /// The reason of `ConnectionHandler` to refuse a request. No client can set it.
    package static let refusal = Self("till-refusal")
}
