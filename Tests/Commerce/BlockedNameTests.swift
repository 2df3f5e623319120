import Commerce
import Foundation
import Testing

/// The names that stand for no user.
@Suite struct BlockedNameTests {
    /// The names that apps send for a missing one, each in one spelling.
    static let names = [
        "null", "undefined", "nil", "none", "NaN", "no_user", "unidentified", "unknown", "anonymous", "guest", "n/a",
        "-1",
        "0", "(null)", "<null>", "[object Object]", "[]", "{}", "()", "\"\"", "00",
        "00000000-0000-0000-0000-000000000000",
        "00000000000000000000000000000000", "{00000000-0000-0000-0000-000000000000}",
        "urn:uuid:00000000-0000-0000-0000-000000000000",
    ]

    @Test(arguments: names)
    func `a name that stands for no user is blocked in any case, with spaces and marks around it`(name: String) {
        let cases = [name, name.uppercased(), name.lowercased(), name.capitalized]
        let spaces = ["", " ", "\t", "\n", "\u{0}", "\u{A0}", "\u{3000}", "\r\n  "]
        let marks = [("", ""), ("\"", "\""), ("(", ")"), ("<", ">"), ("'", "'"), ("[ ", " ]"), ("{\"", "\"}")]
        for name in cases {
            for space in spaces {
                for (first, last) in marks {
                    let spelled = space + first + name + last + space
                    #expect(BlockedNames.standard.contains(spelled), "\(spelled)")
                }
            }
        }
    }

    @Test(arguments: ["", " ", "\u{3000}\n", "''"])
    func `an empty name is blocked`(name: String) {
        #expect(BlockedNames.standard.contains(name))
    }

    @Test(arguments: [
        "alice", "1", "10", "0x0", "0a", "null\u{200B}", "nullable", "guest7", "guest@example.com", "a/b", ".", "..",
        "%", "-",
        "00000000-0000-0000-0000-000000000001", "$RCAnonymousID:00000000000000000000000000000000", "\u{FDFA}",
        "unknown user",
        "ｎｕｌｌ", "n\u{FC}ll",
    ])
    func `another name is not blocked`(name: String) {
        #expect(!BlockedNames.standard.contains(name))
    }

    @Test func `a setting adds names to the list`() {
        let names = BlockedNames(adding: ["Gast", " demo-user ", "Hei\u{DF}"])
        for name in ["gast", "GAST", "<Gast>", "demo-user", "DEMO-USER", "hei\u{DF}", "null"] {
            #expect(names.contains(name), "\(name)")
        }
        #expect(!names.contains("gast1") && !BlockedNames.standard.contains("gast"))
    }

    @Test(arguments: [
        ("", "guest", true), ("https://issuer.example.com", "guest", true), (User.customerIssuer, "guest", true),
        (User.customerIssuer, "%20Guest%0A", true), (User.customerIssuer, "%5Bobject%20Object%5D", false),
        (User.customerIssuer, "[object%20Object]", true), (User.accountIssuer, "guest", false),
        (User.erasedIssuer, "0000", false), (User.customerIssuer, "alice", false),
    ])
    func `the name of each issuer but the service's own is read as its app spells it`(
        issuer: String,
        name: String,
        isBlocked: Bool
    ) throws {
        #expect(BlockedNames.standard.contains(try #require(User(issuer: issuer, name: name))) == isBlocked)
    }

    @Test func `a long name is compared with nothing`() {
        #expect(!BlockedNames.standard.contains(String(repeating: " ", count: BlockedNames.maximumLength + 1)))
        #expect(BlockedNames.standard.contains(String(repeating: " ", count: BlockedNames.maximumLength)))
    }

    @Test(arguments: [
        ("00000000-0000-0000-0000-000000000000", true), ("FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", true),
        ("00000000-0000-0000-0000-000000000001", false), ("FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF", false),
    ])
    func `the nil and the max UUID are placeholders`(text: String, isPlaceholder: Bool) throws {
        #expect(try #require(UUID(uuidString: text)).isPlaceholder == isPlaceholder)
    }
}
