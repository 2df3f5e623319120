import Entitlements
import Features
import Proofs
import Testing

/// The rules of addresses and passwords.
@Suite struct AccountRuleTests {
    private static let long = String(repeating: "a", count: 64)

    @Test(
        arguments: [
            "a@b.co", "first.last+tag@sub.example.com", " sprout@example.com\n",
            "o'hara!#$%&'*+-/=?^_`{|}~@example.com",
            "1@2.c3", "x@xn--bcher-kva.example", "\(long)@example.com", "A@EXAMPLE.COM",
        ])
    func `a deliverable address is accepted`(text: String) throws {
        let address = try EmailAddress(text)
        #expect(!address.text.contains { $0.isWhitespace })
        #expect(address.lowercase == address.text.lowercased())
    }

    @Test(
        arguments: [
            "", "@", "a", "a@", "@b.co", "a@b", "a@@b.co", "a@b@c.co", "a b@c.co", "a@b c.co", ".a@b.co", "a.@b.co",
            "a..b@c.co", "a@.co", "a@b.", "a@b..co", "a@-b.co", "a@b-.co", "a@1.2.3.4", "a@[1.2.3.4]", "\"a\"@b.co",
            "a\u{0}@b.co", "a@b.co\u{0}", "ä@b.co", "a@bücher.de", "a@b_c.co", "(c)a@b.co", "a,b@c.co", "\(long)a@b.co",
            "a@\(long).co", "a\u{202E}@b.co",
        ])
    func `an undeliverable address is refused`(text: String) {
        #expect(throws: AccountError.emailInvalid) { try EmailAddress(text) }
    }

    @Test func `a long address is refused`() throws {
        let domain = (0..<60).map { _ in "abc" }.joined(separator: ".")
        #expect(try EmailAddress("ab@\(domain).abcdefghijk").text.utf8.count == 254)
        #expect(throws: AccountError.emailTooLong) { try EmailAddress("abc@\(domain).abcdefghijk") }
    }

    @Test(
        arguments: [
            ("1234567", PasswordError.passwordTooShort), ("", .passwordTooShort), ("새싹새싹새싹새", .passwordTooShort),
            (String(repeating: "새", count: 86), .passwordTooLong), ("password", .passwordTooCommon),
            ("PassWord1", .passwordTooCommon), ("12345678", .passwordTooCommon), ("87654321", .passwordTooCommon),
            ("zzzzzzzzzzzz", .passwordTooCommon), ("abcdefghijkl", .passwordTooCommon),
            ("1q2w3e4r", .passwordTooCommon),
            ("ｐａｓｓｗｏｒｄ", .passwordTooCommon), ("sproutlover", .passwordLikeEmail),
            ("SproutLover@Example.com", .passwordLikeEmail),
        ])
    func `a weak password is refused`(text: String, error: PasswordError) throws {
        let email = try EmailAddress("sproutlover@example.com")
        #expect(throws: error) { try Password(text, of: email) }
    }

    @Test(
        arguments: [
            "correct horse battery staple", "새싹이 여덟 개야",
            "\u{1F331}\u{1F331}\u{1F331}\u{1F331}\u{1F331}\u{1F331}\u{1F331}\u{1F33B}",
            "        x", "aB3$aB3$", String(repeating: "ab", count: 128),
        ])
    func `any other password is accepted`(text: String) throws {
        _ = try Password(text, of: try EmailAddress("sproutlover@example.com"))
    }
}
