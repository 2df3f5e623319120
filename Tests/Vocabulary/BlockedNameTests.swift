import Foundation
import Proofs
import Testing
import Vocabulary

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
        // Quotes of other languages.
        "\u{201C}null\u{201D}", "\u{2018}null\u{2019}", "\u{201E}null\u{201C}", "\u{AB}null\u{BB}",
        "\u{2039}nil\u{203A}",
        "\u{300C}null\u{300D}", "\u{3010}guest\u{3011}", "\u{B4}null\u{B4}", "\u{2033}null\u{2033}", "\\\"null\\\"",
        "\u{AB}\u{A0}null\u{A0}\u{BB}", "\u{201C}\u{201D}",
        // Letters and digits of other widths and styles.
        "ｎｕｌｌ", "ＮＵＬＬ", "ｇｕｅｓｔ", "（ｎｕｌｌ）", "＂null＂", "０", "０００", "－１", "\u{2212}1", "Ｎ／Ａ",
        "\u{1D427}\u{1D42E}\u{1D425}\u{1D425}",
        "\u{24D6}uest", "\u{660}", "\u{966}\u{966}",
        // Only invisible characters, and control characters.
        "\u{3164}", "\u{200B}", "\u{2800}", "\u{FEFF}\u{2060}", "(\u{200B})", "null\u{0}",
        // Zero UUIDs.
        "URN:UUID:00000000-0000-0000-0000-000000000000", "URN:UUID:{00000000-0000-0000-0000-000000000000}",
        "{urn:uuid:00000000-0000-0000-0000-000000000000}", "uuid:00000000-0000-0000-0000-000000000000", "UUID:0",
        "urn:uuid:null", "urn:uuid:", "00000000\u{2013}0000\u{2013}0000\u{2013}0000\u{2013}000000000000",
        "00000000\u{2010}0000\u{2010}0000\u{2010}0000\u{2010}000000000000", "00000000 0000 0000 0000 000000000000",
        "00000000_0000_0000_0000_000000000000", "00000000:0000:0000:0000:000000000000",
        "{{00000000-0000-0000-0000-000000000000}}", "Optional(00000000-0000-0000-0000-000000000000)",
        // Optional values, and what follows a value.
        "Optional(nil)", "Optional(\"null\")", "Optional(Optional(\"guest\"))", "optional( null )", "Optional()",
        "Optional(\"\")", "null,", "nil;", "null.", "\"null\",", "(null);", "undefined!", "null\u{3002}",
        "null\u{2026}",
        "[object Null]", "[object Undefined]",
    ])
    func `another spelling of a name that stands for no user is blocked`(name: String) {
        #expect(BlockedNames.standard.contains(name))
    }

    @Test(arguments: [
        "alice", "1", "10", "0x0", "0x12", "0a", "a0", "a", "o", "O", "nullable", "null-island", "null_", "_null_",
        "null\u{200B}", "\u{FEFF}null", "nu\u{AD}ll", "\u{200E}guest\u{200F}", "nul", "nu ll", "nulls", "guest7",
        "guest@example.com", "@guest", "a/b", ".", "..", "%", "-", "--", "_", "?",
        "^^", ":)", ";)", "0_0", "0.0", "0:0", "1,000", "00000000_", "00000000-0000-0000-0000-000000000001",
        "urn:uuid:00000000-0000-0000-0000-000000000001", "urn:alice", "uuid:1", "Optional(\"alice\")", "optional",
        "Optional", "optionalnull", "$RCAnonymousID:00000000000000000000000000000000",
        "$RCAnonymousID:{00000000-0000-0000-0000-000000000000}", "\u{FDFA}", "unknown user", "nonesuch", "Nil\u{E9}",
        "n\u{FC}ll", "nul\u{142}", "\u{5E74}", "\u{B110}", "\u{B110}\u{B110}", "홍길동", "손님", "영", "이영희", "０１", "Ａｌｉｃｅ",
        "中村", "О",
        "👤", "\u{2460}", "\u{BD}", "∅", "000000000000000000000000000000000_0",
    ])
    func `another name is not blocked`(name: String) {
        #expect(!BlockedNames.standard.contains(name))
    }

    @Test func `a name of letters, digits and some signs is blocked if it is in brackets`() {
        var names = [""]
        for _ in 0..<4 { names += names.flatMap { name in "01nN-_$:".map { name + String($0) } } }
        for name in Set(names).union(Self.names).subtracting([""]) {
            #expect(BlockedNames.standard.contains(name) == BlockedNames.standard.contains("(\(name))"), "\(name)")
        }
    }

    @Test func `a setting adds names to the list`() {
        let names = BlockedNames(adding: ["Gast", " demo-user ", "Hei\u{DF}"])
        for name in ["gast", "GAST", "<Gast>", "Ｇａｓｔ,", "demo-user", "DEMO\u{2010}USER", "hei\u{DF}", "null"] {
            #expect(names.contains(name), "\(name)")
        }
        #expect(!names.contains("gast1") && !BlockedNames.standard.contains("gast"))
    }

    @Test(arguments: [
        ("", "guest", true), ("https://issuer.example.com", "guest", true), (User.customerIssuer, "guest", true),
        (User.customerIssuer, "%20Guest%0A", true), (User.customerIssuer, "%5Bobject%20Object%5D", false),
        (User.customerIssuer, "[object%20Object]", true), (User.accountIssuer, "guest", false),
        (User.erasedIssuer, "0000", false), (User.customerIssuer, "alice", false),
        (User.customerIssuer, "%E2%80%9Cnull%E2%80%9D", false), (User.customerIssuer, "null%E2%80%8B", false),
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
