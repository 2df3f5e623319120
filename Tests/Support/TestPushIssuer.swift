import Proofs

/// An issuer of identity tokens for pushed notifications, as Google's accounts are one.
package struct TestPushIssuer: Sendable {
    package static let audience = "https://shop.example.com/v1/notifications/google"
    package static let email = "push@garden.iam.gserviceaccount.com"

    /// The key of all tests that need no other, because making an RSA key is slow.
    package static let shared = Result { try TestPushIssuer(chain: try TestChains.rsa.get()) }

    private let key: PrivateKey
    private let certificate: Certificate
    package let keyIdentifier: String

    /// - Parameter chain: An RSA chain, whose leaf signs.
    package init(chain: CertificateChain, keyIdentifier: String = "first") throws {
        (key, certificate) = (chain.leaf.key, chain.leaf.certificate)
        self.keyIdentifier = keyIdentifier
    }

    /// The form in which a key is published.
    package enum KeyForm: CaseIterable, Sendable {
        case certificate, publicKey, keySet
    }

    /// The published keys.
    package func keys(_ form: KeyForm = .certificate) throws -> String {
        switch form {
        case .certificate:
            return JSONValue.object([keyIdentifier: .string(certificate.pem)]).compactText
        case .publicKey:
            return JSONValue.object([keyIdentifier: .string(try key.publicKey.pem())]).compactText
        case .keySet:
            // The SubjectPublicKeyInfo of 2048 bits has 33 bytes before the modulus, and ends with the exponent.
            let information = Base64.decode(try key.publicKey.informationText().utf8) ?? []
            let jwk = JSONObject([
                "kty": "RSA", "alg": "RS256", "use": "sig", "kid": .string(keyIdentifier),
                "n": .string(Base64.encode(information.dropFirst(33).prefix(256), .urlSafe)), "e": "AQAB",
            ])
            return TestIssuer.keySet([jwk])
        }
    }

    /// The ways to sign a token.
    package enum Signature: Sendable {
        case genuine
        /// With the public key as a shared secret.
        case sharedSecret
        case none
    }

    /// A token that ends an hour after a moment.
    ///
    /// - Parameters:
    ///   - claims: The replaced claims; nil removes a claim.
    ///   - header: The replaced header fields; nil removes a field.
    package func token(
        at seconds: Int64, claims: [String: JSONValue?] = [:], header: [String: JSONValue?] = [:],
        signature: Signature = .genuine
    ) throws -> String {
        let standardClaims: [String: JSONValue] = [
            "iss": "https://accounts.google.com", "aud": .string(Self.audience), "azp": "100", "sub": "100",
            "email": .string(Self.email), "email_verified": .bool(true), "iat": .integer(seconds),
            "exp": .integer(seconds + 3600),
        ]
        let standardHeader: [String: JSONValue] = ["alg": "RS256", "typ": "JWT", "kid": .string(keyIdentifier)]
        let signed = [(standardHeader, header), (standardClaims, claims)].map { standard, changed in
            let values = standard.mapValues(Optional.some).merging(changed) { $1 }.compactMapValues { $0 }
            return Base64.encode(JSONValue.object(JSONObject(values)).compactText.utf8, .urlSafe)
        }.joined(separator: ".")
        let message = Array(signed.utf8)
        let bytes: [UInt8] =
            switch signature {
            case .genuine: try key.signRSA(message, digest: .sha256)
            case .sharedSecret:
                MessageAuthentication.hmac(
                    .sha256, of: message, secret: Array(try key.publicKey.pem().utf8))
            case .none: []
            }
        return signed + "." + Base64.encode(bytes, .urlSafe)
    }
}
