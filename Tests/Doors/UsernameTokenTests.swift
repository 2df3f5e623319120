import Foundation
import Proofs
import Service
import Testing

/// The account tokens of cordova-plugin-purchase.
@Suite struct UsernameTokenTests {
    @Test(arguments: [
        // RFC 1321, appendix A.5.
        ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
        ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        (
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"
        ),
        (
            "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
            "57edf4a22be3c955ac49da2e2107b67a"
        ),
    ])
    func `MD5 has the digests of its standard`(text: String, digest: String) {
        #expect(MD5.digest(of: Array(text.utf8))?.hexadecimal == digest)
    }

    @Test func `an id has the token that the plugin derives`() throws {
        #expect(UsernameTokens.tokens(of: "alice").map(\.uuidString) == ["6384E2B2-184B-3BF5-8ECC-F10CA7A6563C"])
        let token = "0F2E7B14-89E8-4F52-9B3C-0A5C2D1E4F60"
        #expect(UsernameTokens.tokens(of: token).last == UUID(uuidString: token))
        #expect(UsernameTokens.tokens(of: "Zoë") == [])
    }

    @Test func `a stated token is a UUID or its digits`() {
        let token = UUID(uuidString: "6384E2B2-184B-3BF5-8ECC-F10CA7A6563C")
        #expect(UsernameTokens.token("6384e2b2-184b-3bf5-8ecc-f10ca7a6563c") == token)
        #expect(UsernameTokens.token("6384e2b2184b3bf58eccf10ca7a6563c") == token)
        #expect(UsernameTokens.token("alice") == nil)
        #expect(UsernameTokens.token(String(repeating: "é", count: 16)) == nil)
    }
}
