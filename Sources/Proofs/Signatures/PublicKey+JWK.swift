import SwiftASN1

extension PublicKey {
    /// The accepted sizes of an RSA modulus in bits. RFC 7518 section 3.3 defines the lower bound.
    private static let modulusSizes = 2048...8192
    /// The accepted exponents of an RSA key. Larger ones are not in use, and the time of a verification grows with the
    /// exponent.
    private static let exponents: ClosedRange<UInt64> = 3...(1 << 33 - 1)
    /// The members that make a key secret (RFC 7518 sections 6.2.2, 6.3.2 and 6.4.1).
    private static let privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    /// Reads a public key from a JWK (RFC 7517): RSA, P-256, P-384 and P-521 (RFC 7518 section 6), or Ed25519 (RFC 8037
    /// section 2). The caller checks the members that define the key's use.
    ///
    /// - Returns: Nil for other types, for keys with private members, and for RSA keys outside 2048 to 8192 bits. Nil
    ///   also if coordinates have the wrong length or are not on the curve.
    public init?(jwk: JSONObject) {
        guard !Self.privateMembers.contains(where: { jwk[$0] != nil }), let type = jwk.text("kty") else { return nil }
        let information: [UInt8]?
        if type.hasSameBytes(as: "RSA") {
            information = Self.rsaInformation(jwk)
        } else if type.hasSameBytes(as: "EC") {
            information = Self.ellipticCurveInformation(jwk)
        } else if type.hasSameBytes(as: "OKP") {
            information = Self.ed25519Information(jwk)
        } else {
            return nil
        }
        guard let information else { return nil }
        self.init(der: information)
    }

    /// The SubjectPublicKeyInfo of RSA (RFC 3279 section 2.3.1).
    private static func rsaInformation(_ jwk: JSONObject) -> [UInt8]? {
        // The limit has one extra byte, because some issuers write a leading zero.
        guard let modulus = jwk.number("n", maximumSize: modulusSizes.upperBound / 8 + 1), let first = modulus.first,
            modulusSizes.contains(modulus.count * 8 - first.leadingZeroBitCount), isOdd(modulus),
            let exponent = jwk.number("e", maximumSize: 8), isOdd(exponent),
            exponents.contains(exponent.reduce(0) { $0 << 8 | UInt64($1) })
        else { return nil }
        var key = DER.Serializer()
        key.appendConstructedNode(identifier: .sequence) { numbers in
            numbers.appendUnsigned(modulus)
            numbers.appendUnsigned(exponent)
        }
        return try? subjectPublicKeyInfo(key.serializedBytes) { algorithm in
            try algorithm.serialize(ASN1ObjectIdentifier.rsaEncryption)
            try algorithm.serialize(ASN1Null())
        }
    }

    /// The SubjectPublicKeyInfo of an elliptic curve (RFC 5480 section 2). OpenSSL refuses points outside the curve.
    private static func ellipticCurveInformation(_ jwk: JSONObject) -> [UInt8]? {
        guard let name = jwk.text("crv"),
            let curve = Curve.allCases.first(where: { $0.rawValue.hasSameBytes(as: name) }),
            let x = jwk.bytes("x", maximumSize: curve.size), x.count == curve.size,
            let y = jwk.bytes("y", maximumSize: curve.size), y.count == curve.size
        else { return nil }
        return try? subjectPublicKeyInfo([0x04] + x + y) { algorithm in
            try algorithm.serialize(ASN1ObjectIdentifier.ecPublicKey)
            try algorithm.serialize(ASN1ObjectIdentifier.namedCurve(curve))
        }
    }

    /// The SubjectPublicKeyInfo of Ed25519 (RFC 8410 section 4).
    private static func ed25519Information(_ jwk: JSONObject) -> [UInt8]? {
        guard let name = jwk.text("crv"), name.hasSameBytes(as: "Ed25519"),
            let x = jwk.bytes("x", maximumSize: 32), x.count == 32
        else { return nil }
        return try? subjectPublicKeyInfo(x) { try $0.serialize(ASN1ObjectIdentifier.ed25519) }
    }

    private static func subjectPublicKeyInfo(
        _ key: [UInt8],
        algorithm: (inout DER.Serializer) throws -> Void
    ) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { information in
            try information.appendConstructedNode(identifier: .sequence, algorithm)
            try information.serialize(ASN1BitString(bytes: key[...]))
        }
        return serializer.serializedBytes
    }

    private static func isOdd(_ number: [UInt8]) -> Bool {
        number.last.map { $0 & 1 == 1 } ?? false
    }
}

extension JSONObject {
    fileprivate func text(_ name: String) -> String? {
        if case .string(let text) = self[name] { text } else { nil }
    }

    /// The bytes of a base64url member. Nil, without decoding, if there are more than `maximumSize`.
    fileprivate func bytes(_ name: String, maximumSize: Int) -> [UInt8]? {
        guard let text = text(name), text.utf8.count <= (maximumSize * 4 + 2) / 3 else { return nil }
        return Base64.decode(text.utf8, .urlSafe)
    }

    /// A number (RFC 7518 section 2, Base64urlUInt) without leading zeros.
    fileprivate func number(_ name: String, maximumSize: Int) -> [UInt8]? {
        bytes(name, maximumSize: maximumSize).map { Array($0.drop { $0 == 0 }) }
    }
}

extension DER.Serializer {
    /// - Parameter number: The number without leading zeros.
    fileprivate mutating func appendUnsigned(_ number: [UInt8]) {
        appendPrimitiveNode(identifier: .integer) { bytes in
            if let first = number.first, first >= 0x80 { bytes.append(0) }
            bytes.append(contentsOf: number)
        }
    }
}

extension ASN1ObjectIdentifier {
    fileprivate static let rsaEncryption: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 1]
    fileprivate static let ecPublicKey: ASN1ObjectIdentifier = [1, 2, 840, 10045, 2, 1]
    fileprivate static let ed25519: ASN1ObjectIdentifier = [1, 3, 101, 112]

    fileprivate static func namedCurve(_ curve: Curve) -> ASN1ObjectIdentifier {
        switch curve {
        case .p256: [1, 2, 840, 10045, 3, 1, 7]
        case .p384: [1, 3, 132, 0, 34]
        case .p521: [1, 3, 132, 0, 35]
        }
    }
}
