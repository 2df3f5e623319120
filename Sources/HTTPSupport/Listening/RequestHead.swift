import HTTPTypes
import NIOHTTP1

/// The rules for the head of a request. They apply before anything compares, hashes or decodes it.
package enum RequestHead {
    /// The maximum length of a request target, in bytes.
    package static let maximumTargetLength = 8 * 1024
    /// The maximum length of a header field, in bytes. NIO refuses a longer one, and a longer request target.
    static let maximumFieldLength = 8 * 1024
    /// The maximum length of a head, in bytes. NIO refuses a longer one.
    static let maximumLength = 32 * 1024
    /// The maximum number of header fields. NIO refuses more.
    static let maximumFieldCount = 100

    /// The header fields that Till or Hummingbird reads. All others are removed.
    static let readFields: Set<HTTPField.Name> = Set(
        [
            .accessControlRequestHeaders, .accessControlRequestMethod, .authorization, .acceptLanguage, .connection,
            .contentLength, .contentType, .cookie, .ifMatch, .ifNoneMatch, .origin,
        ]
            + [
                .forwardedFor, .idempotencyKey, .idToken, .lastEventID, .methodOverride, .position,
                .revenueCatEntityTag, .revenueCatPlatform,
                .secFetchDest,
                .secFetchSite, .store,
            ].compactMap(\.self))

    /// The reason to refuse a head.
    package enum Refusal: String, Sendable {
        case targetNotASCII, targetTooLong, fieldNotASCII, fieldRepeated, hostMissing, hostInvalid
        /// The parser has refused the head.
        case tooLarge, malformed

        /// - Returns: Nil for an error that is not the parser's, and for the end of a connection within a head.
        init?(_ error: any Error) {
            guard let error = error as? HTTPParserError else { return nil }
            switch error {
            case .invalidEOFState, .closedConnection: return nil
            case .headerOverflow: self = .tooLarge
            default: self = .malformed
            }
        }

        package var sentence: String {
            switch self {
            case .targetNotASCII: "The request target contains a byte above 0x7F. Percent-encode it."
            case .targetTooLong:
                "The request target has more than \(RequestHead.maximumTargetLength) bytes. Send a shorter one."
            case .fieldNotASCII: "A header field contains a byte above 0x7F. Send ASCII."
            case .fieldRepeated: "The request has `Host` or `Authorization` twice. Send each once."
            case .hostMissing: "The request has no `Host`. Send the host name of the service."
            case .hostInvalid:
                "`Host` must be a name of letters, digits, \"-\", \".\" and \"_\" or an IP address, with an optional port."
            case .tooLarge:
                "The request target or a header field has more than \(RequestHead.maximumFieldLength) bytes, the head has more "
                    + "than \(RequestHead.maximumLength), or more than \(RequestHead.maximumFieldCount) fields. Send less."
            case .malformed: "The head of the request is not one of HTTP/1.1. Send it as RFC 9112 describes it."
            }
        }
    }

    /// Removes the fields that nothing reads.
    ///
    /// A request of HTTP/1.0 has a host too, from `MissingHostHandler`. The parser refuses a second `Content-Length`.
    package static func checked(_ head: HTTPRequest) -> Result<HTTPRequest, Refusal> {
        let target = head.path ?? ""
        guard target.utf8.count <= maximumTargetLength else { return .failure(.targetTooLong) }
        guard target.isASCII else { return .failure(.targetNotASCII) }
        guard let host = head.authority else { return .failure(.hostMissing) }
        guard isHost(host) else { return .failure(.hostInvalid) }
        var isWhole = true
        var hasAuthorization = false
        for field in head.headerFields {
            guard readFields.contains(field.name) else {
                guard field.name != HTTPField.Name.secondHost else { return .failure(.fieldRepeated) }
                isWhole = false
                continue
            }
            guard field.value.isASCII else { return .failure(.fieldNotASCII) }
            guard field.name == .authorization else { continue }
            guard !hasAuthorization else { return .failure(.fieldRepeated) }
            hasAuthorization = true
        }
        // A head without unread fields is returned without a copy.
        if isWhole { return .success(head) }
        var read = head
        // `filter` would grow the list field by field, and copy it.
        read.headerFields = HTTPFields()
        read.headerFields.reserveCapacity(head.headerFields.count)
        for field in head.headerFields where readFields.contains(field.name) { read.headerFields.append(field) }
        return .success(read)
    }

    /// The form of `Host`: a name or an IP address, with an optional port.
    private static func isHost(_ text: String) -> Bool {
        let bytes = text.utf8
        let isAddress = bytes.first == UInt8(ascii: "[")
        let end = isAddress ? bytes.firstIndex(of: UInt8(ascii: "]")) : bytes.firstIndex(of: UInt8(ascii: ":"))
        guard let end = end ?? (isAddress ? nil : bytes.endIndex) else { return false }
        let name = bytes[..<end].dropFirst(isAddress ? 1 : 0)
        let port = bytes[end...].dropFirst(isAddress ? 1 : 0)
        return !name.isEmpty && name.allSatisfy { isInHost($0, isAddress: isAddress) }
            && (port.isEmpty
                || port.first == UInt8(ascii: ":") && port.count <= 6 && port.dropFirst().allSatisfy(isDigit))
    }

    /// The last labels of names that many machines use, each for itself (RFC 6761, RFC 6762).
    private static let localDomains: Set<Substring> = ["internal", "local", "localhost", "test"]

    /// True if a host is a name of the public domain name system, not an address or a name such as `localhost`.
    package static func isPublicName(_ host: String) -> Bool {
        // The last label of an address is a number, or the address is in brackets.
        guard !host.hasPrefix("["), let name = host.split(separator: ":", maxSplits: 1).first else { return false }
        let labels = name.lowercased().split(separator: ".")
        guard labels.count > 1, let last = labels.last, let first = last.utf8.first else { return false }
        return !isDigit(first) && !localDomains.contains(last)
    }

    private static func isInHost(_ byte: UInt8, isAddress: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "."): true
        case UInt8(ascii: ":"): isAddress
        case UInt8(ascii: "g")...UInt8(ascii: "z"), UInt8(ascii: "G")...UInt8(ascii: "Z"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            !isAddress
        default: isDigit(byte)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

extension RequestHead.Refusal: Error {}

extension String {
    fileprivate var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }
}

extension HTTPField.Name {
    static let forwardedFor = Self("X-Forwarded-For")
    package static let idempotencyKey = Self("Idempotency-Key")
    /// The method of a request whose query is too long for its address. Google's clients send it.
    package static let methodOverride = Self("X-HTTP-Method-Override")
    package static let idToken = Self("idtoken")
    package static let lastEventID = Self("Last-Event-ID")
    /// The ledger's position (`LedgerPosition`), in answers and in requests that may be answered by a standby.
    package static let position = Self("Till-Position")
    package static let revenueCatEntityTag = Self("X-RevenueCat-ETag")
    package static let revenueCatPlatform = Self("X-Platform")
    /// A further `Host`. The first one is the request's authority.
    static let secondHost = Self("Host")
    package static let secFetchDest = Self("Sec-Fetch-Dest")
    package static let secFetchSite = Self("Sec-Fetch-Site")
    /// The name of a local App Store, among those of one process.
    package static let store = Self("X-Till-Store")
    /// The reason of `ConnectionHandler` to refuse a request. No client can set it.
    package static let refusal = Self("till-refusal")
}
