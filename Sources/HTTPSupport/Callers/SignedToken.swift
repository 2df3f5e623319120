import Signatures
import StrictJSON

/// A JWT in the compact form of a JWS (RFC 7519 section 3, RFC 7515 section 7.1), read strictly: it has one spelling.
///
/// Reading one checks its form only. Nothing of it is believed before `isSigned(by:)`.
package struct SignedToken: Sendable {
    /// The longest token read, in bytes.
    private static let maximumSize = 8 * 1024
    /// The longest key of a claim, in bytes.
    private static let maximumKeyLength = 256

    package let algorithm: String
    /// Its `kid`; nil for a token without.
    package let keyIdentifier: String?
    package let claims: TokenClaims
    /// The header and the payload as they were sent, with the point between them.
    private let signedBytes: [UInt8]
    private let signature: [UInt8]

    /// - Throws: `Problem`, `tokenInvalid`.
    package init(compact bytes: [UInt8]) throws(Problem) {
        try Self.checkSize(bytes.count)
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let headerBytes = Base64.decode(parts[0], .urlSafe),
            let payload = Base64.decode(parts[1], .urlSafe), let signature = Base64.decode(parts[2], .urlSafe),
            case .object(let header)? = try? JSONParser.parse(headerBytes),
            // Till knows no critical parameter (RFC 7515 section 4.1.11).
            case .string(let algorithm) = header["alg"], header["crit"] == nil,
            // Comparing other texts by canonical equivalence takes quadratic time on combining marks.
            JSONValue.object(header).isASCII,
            case .object(let claims)? = try? JSONParser.parse(payload),
            claims.keys.allSatisfy({ $0.utf8.count <= Self.maximumKeyLength })
        else { throw .tokenInvalid("it is no signed JWT") }
        switch header["kid"] {
        case .string(let identifier): keyIdentifier = identifier
        case nil: keyIdentifier = nil
        default: throw .tokenInvalid("its kid is no text")
        }
        self.algorithm = algorithm
        self.claims = TokenClaims(claims)
        self.signature = signature
        signedBytes = Array(bytes[..<parts[1].endIndex])
    }

    /// Refuses a token by its size alone, before anything reads it.
    static func checkSize(_ count: Int) throws(Problem) {
        guard count <= maximumSize else { throw .tokenInvalid("it is longer than \(maximumSize) bytes") }
    }

    /// Whether the signature holds under a key, by the key's own algorithm.
    package func isSigned(by key: TokenKey) -> Bool {
        key.algorithm.rawValue.hasSameBytes(as: algorithm) && key.verifies(signature, over: signedBytes)
    }
}

extension JSONValue {
    /// Whether every key and text is ASCII.
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
