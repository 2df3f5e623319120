/// An ECDSA signature in its two forms. JWS concatenates r and s (RFC 7518 section 3.4). OpenSSL and X.509 use a DER
/// sequence of two integers (RFC 3279 section 2.2.3).
struct ECDSASignature {
    private let r: [UInt8]
    private let s: [UInt8]

    /// - Returns: Nil unless r and s have exactly the length of the curve's numbers.
    init?(jws bytes: [UInt8], on curve: Curve) {
        guard bytes.count == 2 * curve.size else { return nil }
        r = Array(bytes.prefix(curve.size))
        s = Array(bytes.suffix(curve.size))
    }

    /// Reads a signature over P-256.
    ///
    /// - Parameter bytes: OpenSSL's signature. Its lengths are below 128, so each is one byte.
    /// - Returns: Nil unless the bytes are two integers of at most 32 bytes.
    init?(derOnP256 bytes: [UInt8]) {
        var rest = bytes[...]
        guard rest.popFirst() == 0x30, let length = rest.popFirst(), Int(length) == rest.count,
            let r = Self.integer(&rest), let s = Self.integer(&rest), rest.isEmpty
        else { return nil }
        self.r = r
        self.s = s
    }

    var jws: [UInt8] { r + s }

    var der: [UInt8] {
        let integers = Self.encoded(r) + Self.encoded(s)
        let length = UInt8(integers.count)
        // Only a P-521 signature may need two bytes of length.
        return (length < 0x80 ? [0x30, length] : [0x30, 0x81, length]) + integers
    }

    private static func encoded(_ number: [UInt8]) -> [UInt8] {
        var digits = Array(number.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
    }

    private static func integer(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.popFirst() == 0x02, let length = rest.popFirst(), Int(length) <= rest.count else { return nil }
        let digits = rest.prefix(Int(length)).drop { $0 == 0 }
        rest = rest.dropFirst(Int(length))
        let size = Curve.p256.size
        guard digits.count <= size else { return nil }
        return [UInt8](repeating: 0, count: size - digits.count) + digits
    }
}

/// The elliptic curves. Apple's leaves use P-256 and the certificates above them P-384. Token issuers use all three.
public enum Curve: String, Sendable, CaseIterable {
    case p256 = "P-256"
    case p384 = "P-384"
    case p521 = "P-521"

    private var parameters: (groupName: String, size: Int, digest: DigestAlgorithm) {
        switch self {
        case .p256: ("prime256v1", 32, .sha256)
        case .p384: ("secp384r1", 48, .sha384)
        case .p521: ("secp521r1", 66, .sha512)
        }
    }

    /// The group's name in OpenSSL.
    var groupName: String { parameters.groupName }
    /// The length of a coordinate and of each of a signature's two numbers, in bytes.
    var size: Int { parameters.size }
    /// The hash function that JWS pairs with the curve (RFC 7518 section 3.4).
    var digest: DigestAlgorithm { parameters.digest }
}
