import AppStoreClient
import Commerce
import Foundation
import JWTKit
import Testing

/// What the App Store Server API is asked with.
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
        let own = try await AppStoreServerKey(
            privateKey: key.pemRepresentation, keyIdentifier: "ABC123", issuerIdentifier: "issuer",
            bundleIdentifier: "com.example.app")
        let token = try await own.token(at: Timestamp(secondsSince1970: 1_790_000_000))
        let keys = await JWTKeyCollection().add(ecdsa: key.publicKey, kid: "ABC123")
        let claims = try await keys.verify(token, as: Claims.self)
        #expect((claims.iss, claims.bid, claims.aud) == ("issuer", "com.example.app", "appstoreconnect-v1"))
        #expect((claims.iat, claims.exp) == (1_790_000_000, 1_790_000_300))
    }

    @Test func `what is no key is refused`() async throws {
        await #expect(throws: ReconciliationError.keyInvalid) {
            _ = try await AppStoreServerKey(
                privateKey: "no key", keyIdentifier: "ABC123", issuerIdentifier: "issuer",
                bundleIdentifier: "com.example.app")
        }
    }

    @Test func `only Apple's origins have an address of Apple's`() {
        for origin in Origin.allCases {
            let isApple = [.appleProduction, .appleSandbox].contains(origin)
            #expect((origin.appStoreServerURL != nil) == isApple)
        }
    }
}
