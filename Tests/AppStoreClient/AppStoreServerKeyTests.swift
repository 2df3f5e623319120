import Entitlements
import Foundation
import JWTKit
import Proofs
import Service
import TestSupport
import Testing

/// The key and the tokens for the App Store Server API.
@Suite struct AppStoreServerKeyTests {
    private struct Claims: JWTPayload {
        let iss: String
        let iat: Int64
        let exp: Int64
        let aud: String
        let bid: String

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    @Test func `a token names the issuer and the app, and is valid for five minutes`() async throws {
        let key = ES256PrivateKey()
        let own = try AppStoreServerKey(
            privateKey: key.pemRepresentation, keyIdentifier: "ABC123", issuerIdentifier: "issuer",
            bundleIdentifier: "com.example.app")
        let token = try own.token(at: Timestamp(secondsSince1970: 1_790_000_000))
        let keys = await JWTKeyCollection().add(ecdsa: key.publicKey, kid: "ABC123")
        let claims = try await keys.verify(token, as: Claims.self)
        #expect((claims.iss, claims.bid, claims.aud) == ("issuer", "com.example.app", "appstoreconnect-v1"))
        #expect((claims.iat, claims.exp) == (1_789_999_970, 1_790_000_300))
        let header = try DefaultJWTParser().parse(Array(token.utf8), as: Claims.self).header
        #expect((header.alg, header.kid, header.typ) == ("ES256", "ABC123", "JWT"))
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:49:07 GMT", 30),
            ("Mon, 07 Nov 1994 08:49:37 GMT", -86_400),
            ("Sunday, 06-Nov-94 08:49:37 GMT", nil), ("", nil), (nil, nil), ("Sun, 06 Nov 1994 08:49:37 UTC", nil),
        ] as [(String?, Int64?)])
    func `the date of an answer tells how far the clock is ahead`(date: String?, seconds: Int64?) throws {
        let now = try #require(Timestamp(rfc3339: "1994-11-06T08:49:37Z"))
        #expect(AppStoreServerClient.secondsAhead(of: date, at: now) == seconds)
    }

    @Test func `a key that is not a private key on P-256 is refused`() throws {
        let curve = ES256PrivateKey()
        let texts = [
            "no key", "", ES384PrivateKey().pemRepresentation, try EdDSA.PrivateKey().pemRepresentation,
            try TestChains.rsa.get().leaf.key.pem(), curve.publicKey.pemRepresentation,
            String(curve.pemRepresentation.dropFirst(10)),
        ]
        for text in texts {
            #expect(throws: ReconciliationError.keyInvalid, "\(text.prefix(40))") {
                _ = try AppStoreServerKey(
                    privateKey: text, keyIdentifier: "ABC123", issuerIdentifier: "issuer",
                    bundleIdentifier: "com.example.app")
            }
        }
    }

    @Test func `only the origins of Apple have an address`() {
        for origin in Origin.allCases {
            let isApple = [.appleProduction, .appleSandbox].contains(origin)
            #expect((origin.appStoreServerURL != nil) == isApple)
        }
    }
}
