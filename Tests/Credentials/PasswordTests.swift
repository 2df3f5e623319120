import Features
import Proofs
import Testing

/// The hashes of passwords, and their comparison.
@Suite struct PasswordTests {
    private let passwords = Passwords(randomness: .system, cost: .minimal)

    @Test func `a hash has a salt of its own`() throws {
        let password = try Password("correct horse", unlike: [])
        let (first, second) = (try passwords.hash(password), try passwords.hash(password))
        #expect(first != second)
        #expect(first.hasPrefix("$scrypt$ln=4,r=1,p=1$"))
        for hash in [first, second] { #expect(try passwords.matches("correct horse", hash)) }
    }

    @Test(
        arguments: [
            ("correct horse", true), ("ｃｏｒｒｅｃｔ horse", true), ("correct horse ", false), ("", false),
            (String(repeating: "x", count: 100_000), false),
        ])
    func `only a stored hash matches, with any spelling of its password`(text: String, isRight: Bool) throws {
        let hash = try passwords.hash(try Password("correct horse", unlike: []))
        #expect(try passwords.matches(text, hash) == isRight)
        #expect(try !passwords.matches(text, nil))
        #expect(try !passwords.matches(text, "plain"))
    }

    @Test func `a malformed hash matches no password`() {
        for text in [
            "", "$scrypt$", "$scrypt$ln=4,r=1,p=1$AAAA$AAAA", "$argon2id$v=19$m=1,t=1,p=1$AAAA$AAAA",
            "$scrypt$ln=99,r=1,p=1$AAAA$\(String(repeating: "A", count: 43))", "plain",
        ] {
            #expect(PasswordHash(text) == nil, "\(text)")
        }
    }

    /// RFC 7914 section 12, the third vector's first 32 bytes.
    @Test func `the hash is scrypt`() throws {
        let text = "$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofI"
        let hash = try #require(PasswordHash(text))
        #expect(hash.description == text)
        #expect(try hash.matches("pleaseletmein"))
        #expect(try !hash.matches("pleaseletmein2"))
    }
}
