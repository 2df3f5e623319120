import Foundation
import HTTPSupport
import Proofs

/// The identity tokens of pushed notifications (OpenID Connect), and the key with which a server verifies them.
extension PlayBooks {
    private static let issuer = "https://accounts.google.com"
    /// The numeric identifier of the account.
    private static let subject = "100000000000000000001"
    private static let lifetime: Int64 = 3600

    /// A token for a push, signed with RS256. It begins and ends by the machine's clock.
    func identityToken(_ settings: PushSettings) throws -> String {
        let key = try keys.key(.identityTokens)
        let start = machineTime.secondsSince1970
        let header: JSONValue = .object([
            "alg": .string("RS256"), "kid": .string(try Self.identifier(of: key.publicKey)), "typ": .string("JWT"),
        ])
        let claims: JSONValue = .object([
            "aud": .string(settings.audience ?? settings.endpoint.absoluteString), "azp": .string(Self.subject),
            "email": .string(settings.email), "email_verified": .bool(true), "exp": .integer(start + Self.lifetime),
            "iat": .integer(start), "iss": .string(Self.issuer), "sub": .string(Self.subject),
        ])
        let signed = [header, claims].map { Base64.encode($0.compactBytes, .urlSafe) }.joined(separator: ".")
        return signed + "." + Base64.encode(try key.signRSA(Array(signed.utf8), digest: .sha256), .urlSafe)
    }

    /// The keys in PEM by their identifiers (`/oauth2/v1/certs`).
    func identityKeys() throws -> [String: String] {
        let key = try keys.key(.identityTokens).publicKey
        return [try Self.identifier(of: key): try key.pem()]
    }

    /// The keys as a JWK Set (`/oauth2/v3/certs`).
    func identityKeySet() throws -> JSONValue {
        let key = try keys.key(.identityTokens).publicKey
        let (modulus, exponent) = try Self.numbers(of: key)
        return .object([
            "keys": .array([
                .object([
                    "alg": .string("RS256"), "e": .string(Base64.encode(exponent, .urlSafe)),
                    "kid": .string(try Self.identifier(of: key)), "kty": .string("RSA"),
                    "n": .string(Base64.encode(modulus, .urlSafe)), "use": .string("sig"),
                ])
            ])
        ])
    }

    private static func identifier(of key: PublicKey) throws -> String {
        DigestAlgorithm.sha256.digest(of: Array(try key.informationText().utf8)).prefix(20).hexadecimal
    }

    /// The sizes in the SubjectPublicKeyInfo of a key of 2048 bits: the whole, the bytes before the modulus, the modulus.
    private static let sizes = (information: 294, prefix: 33, modulus: 256)

    private static func numbers(of key: PublicKey) throws -> (modulus: ArraySlice<UInt8>, exponent: ArraySlice<UInt8>) {
        guard let information = Base64.decode(try key.informationText().utf8), information.count == sizes.information
        else {
            throw PlayError.signingFailed("the key of identity tokens does not have 2048 bits")
        }
        let modulus = information.dropFirst(sizes.prefix).prefix(sizes.modulus)
        return (modulus, information.suffix(3))
    }
}
