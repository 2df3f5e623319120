import Foundation
import Proofs

/// An issuer of user tokens.
package struct TestIssuer: Sendable {
    package static let issuer = "https://accounts.example.com"
    package static let audience = "com.memolease.sesac1"

    private let key: PrivateKey
    private let algorithm: String
    package let keyIdentifier: String
    /// The public key as a JWK, without `alg`.
    package let publicKey: JSONObject

    package init(keyIdentifier: String = "first") throws {
        key = try .generate(.p256)
        algorithm = "ES256"
        self.keyIdentifier = keyIdentifier
        // The SubjectPublicKeyInfo of P-256 ends with the coordinates (RFC 5480 section 2.2).
        let lines = try key.publicKey.pem().split(separator: "\n").dropFirst().dropLast()
        guard let coordinates = Base64.decode(lines.joined().utf8)?.suffix(64) else { throw NoCoordinates() }
        publicKey = JSONObject([
            "kty": "EC", "crv": "P-256", "kid": .string(keyIdentifier),
            "x": .string(Base64.encode(coordinates.prefix(32), .urlSafe)),
            "y": .string(Base64.encode(coordinates.suffix(32), .urlSafe)),
        ])
    }

    /// An issuer that signs with RSA (RS256).
    ///
    /// - Parameter bits: The size of the modulus.
    package init(rsaBits bits: Int) async throws {
        let folder = try TemporaryFolder()
        let made = ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:\(bits)", "-out", "key.pem"]
        try await Tool.run("openssl", made, in: folder.url)
        try await Tool.run(
            "openssl", ["rsa", "-in", "key.pem", "-modulus", "-noout", "-out", "modulus"], in: folder.url)
        key = try PrivateKey(pem: try String(contentsOf: folder.file("key.pem"), encoding: .utf8))
        algorithm = "RS256"
        keyIdentifier = "rsa"
        let digits = try String(contentsOf: folder.file("modulus"), encoding: .utf8).dropFirst("Modulus=".count)
        let modulus = stride(from: 0, to: bits / 4, by: 2).compactMap {
            UInt8(digits.dropFirst($0).prefix(2), radix: 16)
        }
        publicKey = JSONObject([
            "kty": "RSA", "alg": "RS256", "kid": .string(keyIdentifier), "e": "AQAB",
            "n": .string(Base64.encode(modulus, .urlSafe)),
        ])
    }

    private struct NoCoordinates: Error {}

    /// A token of a user that expires an hour after a moment.
    ///
    /// - Parameters:
    ///   - claims: The replaced claims; nil removes a claim.
    ///   - header: The replaced header fields; nil removes a field.
    package func token(
        for user: String = "alice",
        at seconds: Int64,
        claims: [String: JSONValue?] = [:],
        header: [String: JSONValue?] = [:]
    ) throws -> String {
        let standardClaims: [String: JSONValue] = [
            "iss": .string(Self.issuer), "aud": .string(Self.audience), "sub": .string(user),
            "exp": .integer(seconds + 3600), "iat": .integer(seconds),
        ]
        let standardHeader: [String: JSONValue] = [
            "alg": .string(algorithm), "typ": "JWT", "kid": .string(keyIdentifier),
        ]
        let signed = [Self.text(standardHeader, changed: header), Self.text(standardClaims, changed: claims)]
            .map { Base64.encode(Array($0.utf8), .urlSafe) }.joined(separator: ".")
        let message = Array(signed.utf8)
        let signature =
            algorithm == "ES256" ? try key.signES256(message) : try key.signRSA(message, digest: .sha256)
        return signed + "." + Base64.encode(signature, .urlSafe)
    }

    /// A JWK Set of public keys, as an issuer publishes it.
    package static func keySet(_ keys: [JSONObject]) -> String {
        JSONValue.object(JSONObject(["keys": .array(keys.map(JSONValue.object))])).compactText
    }

    private static func text(_ standard: [String: JSONValue], changed: [String: JSONValue?]) -> String {
        let values = standard.mapValues(Optional.some).merging(changed) { $1 }.compactMapValues { $0 }
        return JSONValue.object(JSONObject(values)).compactText
    }
}

extension JSONObject {
    package init(_ values: [String: JSONValue]) {
        self.init()
        for (key, value) in values.sorted(by: { $0.key < $1.key }) { _ = add(key, value) }
    }
}
