import Proofs
import Testing
import Vocabulary

/// The users of the ids that apps give their customers.
@Suite struct CustomerIdentifierTests {
    @Test(arguments: [
        ("alice", "alice"), ("Mint Sprout", "Mint%20Sprout"), ("100%", "100%25"), ("a%20b", "a%2520b"),
        ("mint@example.com", "mint@example.com"), ("새싹 민트", "새싹%20민트"), ("\u{E9}", "\u{E9}"),
        // Another form than NFC has only ASCII in its name.
        ("e\u{301}", "e%CC%81"), (" \u{301}", "%20\u{301}"), ("\u{7}", "%07"), ("a\u{200B}b", "a%E2%80%8Bb"),
        (".", "%2E"), ("..", "%2E%2E"), ("...", "..."), ("a/b", "a/b"),
        ("$RCAnonymousID:0123456789abcdef0123456789abcdef", "$RCAnonymousID:0123456789abcdef0123456789abcdef"),
    ])
    func `an id has one name, and the name leads back to the id`(id: String, name: String) throws {
        let identifier = try #require(CustomerIdentifier(id))
        #expect(Array(identifier.user.name.utf8) == Array(name.utf8))
        #expect(identifier.user.issuer == User.customerIssuer)
        let back = try #require(CustomerIdentifier(identifier.user))
        #expect(Array(back.text.utf8) == Array(id.utf8))
    }

    @Test func `ids that differ in one byte are two users`() throws {
        let ids = [
            "a b", "a%20b", "a\u{A0}b", "ab", "a+b", "\u{E9}", "e\u{301}", "\u{212B}", "\u{C5}", "A\u{30A}", "%C3%A9",
        ]
        let users = try ids.map { try #require(CustomerIdentifier($0)).user }
        #expect(Set(users).count == ids.count)
    }

    @Test(arguments: ["a", " ", "%", "\u{7}", "\u{E9}", "e\u{301}", "\u{200B}", "\u{FDFA}", "새", "\u{1F469}"])
    func `every id of up to 256 bytes has a name`(part: String) throws {
        for bytes in [1, 100, 127, 128, 129, 255, 256] where bytes >= part.utf8.count {
            let id = String(repeating: part, count: bytes / part.utf8.count)
            let identifier = try #require(CustomerIdentifier(id))
            #expect(Array(identifier.text.utf8) == Array(id.utf8))
            #expect(try #require(CustomerIdentifier(identifier.user)).text.utf8.elementsEqual(id.utf8))
        }
        #expect(CustomerIdentifier(String(repeating: part, count: 256 / part.utf8.count + 1)) == nil)
    }

    @Test func `an empty id has no name`() {
        #expect(CustomerIdentifier("") == nil)
    }

    @Test func `only the names of customers may be as long as their ids need`() {
        let long = String(repeating: "a", count: User.maximumLength + 1)
        #expect(User(issuer: User.customerIssuer, name: long) != nil)
        #expect(User(name: long) == nil && User(issuer: User.accountIssuer, name: long) == nil)
        let longest = String(repeating: "a", count: User.maximumCustomerLength)
        #expect(User(issuer: User.customerIssuer, name: longest) != nil)
        #expect(User(issuer: User.customerIssuer, name: longest + "a") == nil)
    }

    @Test(arguments: [
        ("", "alice"), ("till", "alice"), ("customer", "a%"), ("customer", "a%2"), ("customer", "%zz"),
        ("customer", "%61"), ("customer", "%2e"), ("customer", "%FF"),
    ])
    func `other users are no customers, nor are names in another spelling`(issuer: String, name: String) throws {
        #expect(CustomerIdentifier(try #require(User(issuer: issuer, name: name))) == nil)
    }

    @Test func `only a random id of an app is anonymous`() throws {
        let digits = "0123456789abcdef0123456789abcdef"
        #expect(try #require(CustomerIdentifier("$RCAnonymousID:" + digits)).user.isAnonymousCustomer)
        for other in [
            "$RCAnonymousID:", "$RCAnonymousID:" + digits.dropLast(), "$RCAnonymousID:" + digits + "0", digits,
            "$RCAnonymousID:" + digits.uppercased(), "$rcAnonymousID:" + digits,
        ] {
            #expect(try #require(CustomerIdentifier(other)).isAnonymous == false, "\(other)")
        }
        #expect(try #require(User(name: "$RCAnonymousID:" + digits)).isAnonymousCustomer == false)
    }
}
