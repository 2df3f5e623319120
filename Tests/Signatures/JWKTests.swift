import Proofs
import TestSupport
import Testing

/// Public keys as JWKs.
@Suite struct JWKTests {
    @Test func `the members of a JWK determine the kind of the key`() throws {
        #expect(try PublicKey(jwk: JWSVector.rs256.members)?.kind == .rsa(bits: 2048))
        #expect(try PublicKey(jwk: JWSVector.es256.members)?.kind == .ellipticCurve(.p256))
        #expect(try PublicKey(jwk: JWSVector.es512.members)?.kind == .ellipticCurve(.p521))
        #expect(try PublicKey(jwk: JWSVector.edDSA.members)?.kind == .ed25519)
    }

    @Test(arguments: Curve.allCases)
    func `coordinates determine the key of a curve`(curve: Curve) throws {
        let key = try PrivateKey.generate(curve).publicKey
        let size = [Curve.p256: 32, .p384: 48, .p521: 66][curve] ?? 0
        // SubjectPublicKeyInfo ends with the coordinates (RFC 5480 section 2.2).
        let lines = try key.pem().split(separator: "\n").dropFirst().dropLast()
        let coordinates = try #require(Base64.decode(lines.joined().utf8)).suffix(2 * size)
        let jwk = JSONObject([
            "kty": "EC", "crv": .string(curve.rawValue), "x": Self.encoded(coordinates.prefix(size)),
            "y": Self.encoded(coordinates.suffix(size)),
        ])
        #expect(PublicKey(jwk: jwk) == key)
    }

    @Test func `the numbers of an RSA key may begin with zeros`() throws {
        let modulus = try Self.bytes(of: "n", in: .rs256)
        let key = try Self.edited(.rs256, ["n": Self.encoded([0] + modulus), "e": "AAEAAQ"])
        #expect(PublicKey(jwk: key) == PublicKey(jwk: try JWSVector.rs256.members))
    }

    @Test(arguments: [(256, true), (1024, true), (255, false), (128, false), (1025, false), (2048, false)])
    func `an RSA modulus has 2048 to 8192 bits`(size: Int, isAccepted: Bool) throws {
        let modulus = [UInt8](repeating: 0xFF, count: size)
        let key = PublicKey(jwk: try Self.edited(.rs256, ["n": Self.encoded(modulus)]))
        #expect(key?.kind == (isAccepted ? .rsa(bits: size * 8) : nil))
    }

    @Test(
        arguments: [
            ("Aw", true), ("AQAB", true), ("Af____8", true), ("AQ", false), ("AA", false), ("", false), ("Ag", false),
            ("AQAA", false), ("AgAAAAE", false), ("AQAAAAAAAAAB", false),
        ])
    func `an RSA exponent is odd, from 3 to 33 bits`(exponent: String, isAccepted: Bool) throws {
        let key = PublicKey(jwk: try Self.edited(.rs256, ["e": .string(exponent)]))
        #expect((key != nil) == isAccepted)
    }

    @Test(
        arguments: [
            ("RSA, modulus of 2047 bits", .rs256, ["n": encoded([0x7F] + [UInt8](repeating: 0xFF, count: 255))]),
            ("RSA, even modulus", .rs256, ["n": encoded([UInt8](repeating: 0xFE, count: 256))]),
            ("RSA, modulus of zeros", .rs256, ["n": encoded([UInt8](repeating: 0, count: 256))]),
            ("RSA, no modulus", .rs256, ["n": nil]), ("RSA, no exponent", .rs256, ["e": nil]),
            ("RSA, exponent as a number", .rs256, ["e": .integer(65537)]),
            ("RSA, padded exponent", .rs256, ["e": "Aw=="]), ("RSA, bits after the exponent", .rs256, ["e": "Ax"]),
            ("RSA, private exponent", .rs256, ["d": "AQAB"]), ("RSA, a factor", .rs256, ["p": "AQAB"]),
            ("RSA, the other factor", .rs256, ["q": "AQAB"]), ("RSA, more factors", .rs256, ["oth": .array([])]),
            ("EC, private key", .es256, ["d": "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"]),
            ("EC, null as a private key", .es256, ["d": .null]),
            ("EC, no type", .es256, ["kty": nil]), ("EC, a type in lower case", .es256, ["kty": "ec"]),
            ("EC, a shared secret", .es256, ["kty": "oct", "k": "AAAA"]), ("EC, no curve", .es256, ["crv": nil]),
            ("EC, another curve", .es256, ["crv": "P-384"]), ("EC, Bitcoin's curve", .es256, ["crv": "secp256k1"]),
            ("EC, OpenSSL's name of the curve", .es256, ["crv": "prime256v1"]),
            ("EC, no x", .es256, ["x": nil]), ("EC, no y", .es256, ["y": nil]),
            ("EC, padded x", .es256, ["x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU="]),
            ("EC, bits after x", .es256, ["x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEV"]),
            ("EC, a zero before x", .es256, ["x": "AH_NzidyfsRdQYPL7m_bS3tYBzM1e-nvE7rPbjx70VRF"]),
            (
                "EC, swapped coordinates", .es256,
                [
                    "x": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
                    "y": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
                ]
            ),
            ("EC, zeros", .es256, ["x": zeros, "y": zeros]),
            (
                "EC, a point of P-256 for P-521", .es512,
                [
                    "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
                    "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
                ]
            ),
            ("OKP, private key", .edDSA, ["d": "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"]),
            ("OKP, no curve", .edDSA, ["crv": nil]), ("OKP, a curve for agreement", .edDSA, ["crv": "X25519"]),
            ("OKP, another curve", .edDSA, ["crv": "Ed448"]), ("OKP, no x", .edDSA, ["x": nil]),
            ("OKP, a byte less", .edDSA, ["x": encoded([UInt8](repeating: 1, count: 31))]),
            ("OKP, a byte more", .edDSA, ["x": encoded([UInt8](repeating: 1, count: 33))]),
            // Swift considers this string equal to "OKP" by canonical equivalence.
            ("OKP, with the Kelvin sign", .edDSA, ["kty": "O\u{212A}P"]),
        ] as [(String, JWSVector, [String: JSONValue?])])
    func `an invalid public key for tokens is refused`(
        what: String,
        vector: JWSVector,
        changes: [String: JSONValue?]
    ) throws {
        #expect(PublicKey(jwk: try vector.members) != nil)
        #expect(PublicKey(jwk: try Self.edited(vector, changes)) == nil, "\(what)")
    }

    @Test func `coordinates outside the curve are refused`() throws {
        for name in ["x", "y"] {
            for index in [0, 31] {
                var coordinate = try Self.bytes(of: name, in: .es256)
                coordinate[index] ^= 1
                #expect(PublicKey(jwk: try Self.edited(.es256, [name: Self.encoded(coordinate)])) == nil)
            }
        }
    }

    /// 66 bytes can hold numbers above the field of 521 bits.
    @Test func `a coordinate is less than the prime of its field`() throws {
        let prime = [0x01] + [UInt8](repeating: 0xFF, count: 65)
        for name in ["x", "y"] {
            let equal = try #require(try Self.bytes(of: name, in: .es512).adding(prime))
            #expect(PublicKey(jwk: try Self.edited(.es512, [name: Self.encoded(equal)])) == nil, "\(name)")
        }
    }

    @Test func `an x of zero is not the prime of its field`() throws {
        let y = Self.encoded([UInt8](digits: "66485C780E2F83D72433BD5D84A06BB6541C2AF31DAE871728BF856A174F93F4"))
        let prime = [UInt8](digits: "FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF")
        #expect(PublicKey(jwk: try Self.edited(.es256, ["x": Self.zeros, "y": y])) != nil)
        #expect(PublicKey(jwk: try Self.edited(.es256, ["x": Self.encoded(prime), "y": y])) == nil)
    }

    private static let zeros = encoded([UInt8](repeating: 0, count: 32))

    private static func encoded(_ bytes: some Sequence<UInt8>) -> JSONValue { .string(Base64.encode(bytes, .urlSafe)) }

    private static func bytes(of name: String, in vector: JWSVector) throws -> [UInt8] {
        guard case .string(let text) = try vector.members[name] else { return [] }
        return try #require(Base64.decode(text.utf8, .urlSafe))
    }

    /// Returns the vector's key with changed members. Nil removes a member.
    private static func edited(_ vector: JWSVector, _ changes: [String: JSONValue?]) throws -> JSONObject {
        let members = Dictionary(uniqueKeysWithValues: try vector.members.members.map { ($0.key, Optional($0.value)) })
        return JSONObject(members.merging(changes) { $1 }.compactMapValues { $0 })
    }
}
