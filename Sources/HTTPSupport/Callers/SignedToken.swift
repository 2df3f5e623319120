import Proofs

/// A JWT in the compact form of a JWS (RFC 7519 section 3, RFC 7515 section 7.1). The strict reader accepts one
/// spelling.
///
/// The initializer checks only the form. Trust no claim before `isSigned(by:)` returns true.
package struct SignedToken: Sendable {
    /// The maximum size of a token, in bytes.
    private static let maximumSize = 8 * 1024
    /// The maximum length of a claim's key, in bytes.
    private static let maximumKeyLength = 256

    package let algorithm: String
    /// The `kid` of the header. Nil if there is none.
    package let keyIdentifier: String?
    package let claims: TokenClaims
    /// The encoded header and payload with the dot between them.
    private let signedBytes: [UInt8]
    private let signature: [UInt8]

    /// - Throws: `Problem` with the code `tokenInvalid`.
    package init(compact bytes: [UInt8]) throws(Problem) {
        try Self.checkSize(bytes.count)
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let headerBytes = Base64.decode(parts[0], .urlSafe),
            let payload = Base64.decode(parts[1], .urlSafe), let signature = Base64.decode(parts[2], .urlSafe),
            case .object(let header)? = try? JSONParser.parse(headerBytes),
            // Till supports no critical parameter (RFC 7515 section 4.1.11).
            case .string(let algorithm) = header["alg"], header["crit"] == nil,
            // Comparing non-ASCII strings by canonical equivalence takes quadratic time on combining marks.
            JSONValue.object(header).isASCII,
            case .object(let claims)? = try? JSONParser.parse(payload),
            claims.keys.allSatisfy({ $0.utf8.count <= Self.maximumKeyLength })
        else { throw .tokenInvalid("it must be a signed JWT") }
        switch header["kid"] {
        case .string(let identifier): keyIdentifier = identifier
        case nil: keyIdentifier = nil
        default: throw .tokenInvalid("its kid must be a string")
        }
        self.algorithm = algorithm
        self.claims = TokenClaims(claims)
        self.signature = signature
        signedBytes = Array(bytes[..<parts[1].endIndex])
    }

    /// Refuses a token that is too large before anything reads it.
    static func checkSize(_ count: Int) throws(Problem) {
        guard count <= maximumSize else { throw .tokenInvalid("it has more than \(maximumSize) bytes") }
    }

    /// True if the signature is valid under the key, with the key's own algorithm.
    package func isSigned(by key: TokenKey) -> Bool {
        key.algorithm.rawValue.hasSameBytes(as: algorithm) && key.verifies(signature, over: signedBytes)
    }
}

extension JSONValue {
    /// True if every key and string is ASCII.
    fileprivate var isASCII: Bool {
        switch self {
        case .object(let object):
            object.members.allSatisfy { $0.key.utf8.allSatisfy { $0 < 0x80 } && $0.value.isASCII }
        case .array(let elements): elements.allSatisfy(\.isASCII)
        case .string(let text): text.utf8.allSatisfy { $0 < 0x80 }
        case .number, .bool, .null: true
        }
    }
}
