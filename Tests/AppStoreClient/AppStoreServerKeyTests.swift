import Entitlements
import Foundation
import Proofs
import Service
import TestSupport
import Testing

/// The key and the tokens for the App Store Server API.
@Suite struct AppStoreServerKeyTests {
    /// `Tests/Apple` shows such a token to PyJWT, on which Apple's own library relies.
    @Test func `a token names the issuer and the app, and is valid for five minutes`() throws {
        let key = try PrivateKey.generate(.p256)
        let own = try AppStoreServerKey(
            privateKey: try key.pem(), keyIdentifier: "ABC123", issuerIdentifier: "issuer",
            bundleIdentifier: "com.example.app")
        let token = try own.token(at: Timestamp(secondsSince1970: 1_790_000_000))
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        #expect(parts.count == 3)
        let bytes = try parts.map { try #require(Base64.decode($0.utf8, .urlSafe)) }
        #expect(String(decoding: bytes[0], as: UTF8.self) == #"{"alg":"ES256","kid":"ABC123","typ":"JWT"}"#)
        #expect(
            String(decoding: bytes[1], as: UTF8.self) == """
                {"iss":"issuer","iat":1789999970,"aud":"appstoreconnect-v1","bid":"com.example.app","exp":1790000300}
                """)
        #expect(key.publicKey.verifiesES256(bytes[2], over: Array("\(parts[0]).\(parts[1])".utf8)))
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

    @Test func `a key that is not a private key on P-256 is refused`() async throws {
        let folder = try TemporaryFolder()
        try await Tool.run("openssl", ["genpkey", "-algorithm", "ED25519", "-out", "ed25519.pem"], in: folder.url)
        let curve = try PrivateKey.generate(.p256)
        let texts = [
            "no key", "", try PrivateKey.generate(.p384).pem(),
            try String(contentsOf: folder.file("ed25519.pem"), encoding: .utf8),
            try TestChains.rsa.get().leaf.key.pem(), try curve.publicKey.pem(), String(try curve.pem().dropFirst(10)),
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
