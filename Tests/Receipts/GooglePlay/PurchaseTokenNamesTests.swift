import Proofs
import TestSupport
import Testing

/// The names of purchase tokens.
@Suite struct PurchaseTokenNamesTests {
    private static let token = "aaaabbbbccccddddeeeeffff.AO-J1Oz_-"
    private static let digits = Set("0123456789abcdef")

    @Test func `a name depends on the token and on the key, and has neither`() {
        let names = PurchaseTokenNames(key: Array("key".utf8))
        let name = names.name(of: Self.token)
        #expect(name == names.name(of: Self.token))
        #expect(name.hasPrefix("token-") && name.utf8.count == 38)
        #expect(name.dropFirst(6).allSatisfy(Self.digits.contains))
        #expect(name != names.name(of: Self.token + "x"))
        #expect(name != PurchaseTokenNames(key: Array("kez".utf8)).name(of: Self.token))
    }

    /// The case 2 of RFC 4231, cut to 16 bytes.
    @Test func `the digest is HMAC-SHA256`() {
        let names = PurchaseTokenNames(key: Array("Jefe".utf8))
        #expect(names.name(of: "what do ya want for nothing?") == "token-5bdcc146bf60754e6a042426089575c7")
    }
}
