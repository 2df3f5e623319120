import Foundation
import HTTPSupport
import JWTKit
import Proofs
import TestSupport

/// A token issuer that signs with another library: jwt-kit, which has its own cryptography.
struct OracleIssuer {
    private static let keyIdentifier = "oracle"
    /// One key for all RSA algorithms, because generating one takes long.
    private static let rsa = Result {
        try Insecure.RSA.PrivateKey(pem: try Proofs.PrivateKey.generateRSA().pem())
    }

    /// A payload in jwt-kit's form.
    struct Claims: JWTPayload {
        var iss = TestIssuer.issuer
        var sub = "alice"
        var aud = AudienceClaim(value: [TestIssuer.audience])
        var exp: ExpirationClaim

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    let algorithm: TokenAlgorithm
    /// The public key as a JWK.
    let publicKey: JSONObject
    private let keys = JWTKeyCollection()

    init(_ algorithm: TokenAlgorithm) async throws {
        self.algorithm = algorithm
        let identifier = JWKIdentifier(string: Self.keyIdentifier)
        var members: [String: JSONValue] = ["alg": .string(algorithm.rawValue), "kid": .string(Self.keyIdentifier)]
        switch algorithm {
        case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512:
            let key = try Self.rsa.get()
            let numbers = try key.publicKey.getKeyPrimitives()
            members["kty"] = "RSA"
            members["n"] = .string(Base64.encode(numbers.modulus, .urlSafe))
            members["e"] = .string(Base64.encode(numbers.publicExponent, .urlSafe))
            switch algorithm {
            case .rs256: await keys.add(rsa: key, digestAlgorithm: .sha256, kid: identifier)
            case .rs384: await keys.add(rsa: key, digestAlgorithm: .sha384, kid: identifier)
            case .rs512: await keys.add(rsa: key, digestAlgorithm: .sha512, kid: identifier)
            case .ps256: await keys.add(pss: key, digestAlgorithm: .sha256, kid: identifier)
            case .ps384: await keys.add(pss: key, digestAlgorithm: .sha384, kid: identifier)
            default: await keys.add(pss: key, digestAlgorithm: .sha512, kid: identifier)
            }
        case .es256:
            let key = ES256PrivateKey()
            members.merge(try Self.coordinates(key.parameters, on: .p256)) { $1 }
            await keys.add(ecdsa: key, kid: identifier)
        case .es384:
            let key = ES384PrivateKey()
            members.merge(try Self.coordinates(key.parameters, on: .p384)) { $1 }
            await keys.add(ecdsa: key, kid: identifier)
        case .es512:
            let key = ES512PrivateKey()
            members.merge(try Self.coordinates(key.parameters, on: .p521)) { $1 }
            await keys.add(ecdsa: key, kid: identifier)
        case .edDSA:
            let key = try EdDSA.PrivateKey()
            members["kty"] = "OKP"
            members["crv"] = "Ed25519"
            members["x"] = .string(Base64.encode(key.publicKey.rawRepresentation, .urlSafe))
            await keys.add(eddsa: key, kid: identifier)
        }
        publicKey = JSONObject(members)
    }

    /// The key as Till's type.
    var tokenKey: TokenKey {
        get throws {
            let set = try TokenKeySet(Array(TestIssuer.keySet([publicKey]).utf8), allowing: [algorithm])
            guard let key = set[Self.keyIdentifier] else { throw NoKey() }
            return key
        }
    }

    /// Returns a token of jwt-kit.
    func token(_ claims: Claims) async throws -> String {
        try await keys.sign(claims, kid: JWKIdentifier(string: Self.keyIdentifier))
    }

    /// Returns a token with any header and payload, signed by jwt-kit.
    func token(header: String, payload: String = "{}") async throws -> String {
        let signed = [header, payload].map { Base64.encode($0.utf8, .urlSafe) }.joined(separator: ".")
        return signed + "." + Base64.encode(try await signature(Array(signed.utf8)), .urlSafe)
    }

    func signature(_ message: [UInt8]) async throws -> [UInt8] {
        try await keys.getKey(for: JWKIdentifier(string: Self.keyIdentifier)).sign(message)
    }

    private struct NoKey: Error {}

    private static func coordinates(_ parameters: ECDSAParameters?, on curve: Curve) throws -> [String: JSONValue] {
        guard let parameters, let x = Base64.decode(parameters.x.utf8), let y = Base64.decode(parameters.y.utf8) else {
            throw NoKey()
        }
        return [
            "kty": "EC", "crv": .string(curve.rawValue), "x": .string(Base64.encode(x, .urlSafe)),
            "y": .string(Base64.encode(y, .urlSafe)),
        ]
    }
}
