import Proofs
import Testing

@Suite struct JSONParserTests {
    @Test(arguments: [
        #"{"a":1,"b":[true,false,null],"c":{"d":"e"}}"#, "[]", "{}", "\"\"", "0", "-0", "1.5e+10", "1E-2",
        #""한글 \"quoted\" \\ \n""#,
    ])
    func `parsed JSON is written back unchanged`(text: String) throws {
        #expect(try JSONParser.parse(Array(text.utf8)).compactText == text)
    }

    @Test(arguments: [
        (#""\u00e9""#, "\u{e9}"), (#""\ud83d\ude00""#, "\u{1F600}"), (#""\/\b\f""#, "/\u{8}\u{c}"), (#""\t""#, "\t"),
    ])
    func `escapes are decoded`(text: String, expected: String) throws {
        #expect(try JSONParser.parse(Array(text.utf8)) == .string(expected))
    }

    @Test(arguments: [
        (#"{"a":1,"a":2}"#, JSONSyntaxError.Reason.duplicateKey("a")),
        (#"{"a":1,"\u0061":2}"#, .duplicateKey("a")),
        ("", .unexpectedEnd), ("{", .unexpectedEnd), ("[1", .unexpectedEnd), ("\"a", .unexpectedEnd),
        ("tru", .unexpectedEnd),
        ("[1,]", .unexpectedCharacter), ("{\"a\":1,}", .unexpectedCharacter), ("{a:1}", .unexpectedCharacter),
        ("'a'", .unexpectedCharacter), ("\u{feff}1", .unexpectedCharacter), ("\"\n\"", .unexpectedCharacter),
        ("NaN", .unexpectedCharacter), ("+1", .unexpectedCharacter),
        ("01", .invalidNumber), ("1.", .invalidNumber), ("-", .invalidNumber), ("1e", .invalidNumber),
        (#""\x""#, .invalidEscape), (#""\ud800""#, .invalidEscape), (#""\ud800\u0041""#, .invalidEscape),
        (#""\u12""#, .invalidEscape), (#""\u+123""#, .invalidEscape),
        ("1 2", .trailingCharacters), ("{}}", .trailingCharacters),
    ])
    func `ambiguous and malformed JSON is refused`(text: String, reason: JSONSyntaxError.Reason) {
        #expect { try JSONParser.parse(Array(text.utf8)) } throws: { ($0 as? JSONSyntaxError)?.reason == reason }
    }

    @Test func `invalid UTF-8 is refused`() {
        for bytes: [UInt8] in [[0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22]] {
            #expect { try JSONParser.parse(bytes) } throws: { ($0 as? JSONSyntaxError)?.reason == .invalidUTF8 }
        }
    }

    @Test func `a duplicate key among many is found`() throws {
        let members = (0..<1000).map { "\"key\($0)\":\($0)" }
        let object = "{" + members.joined(separator: ",") + "}"
        #expect(throws: Never.self) { try JSONParser.parse(Array(object.utf8)) }
        let doubled = "{" + (members + ["\"key7\":0"]).joined(separator: ",") + "}"
        #expect { try JSONParser.parse(Array(doubled.utf8)) } throws: {
            ($0 as? JSONSyntaxError)?.reason == .duplicateKey("key7")
        }
    }

    @Test func `keys of one length and the same ends are told apart`() throws {
        let object = #"{"offer":1,"other":2,"":3,"o":4}"#
        guard case .object(let members) = try JSONParser.parse(Array(object.utf8)) else {
            Issue.record("no object")
            return
        }
        #expect(["offer", "other", "", "o"].map { members[$0] } == [1, 2, 3, 4].map { .integer($0) })
        #expect(members["ocher"] == nil)
        let doubled = #"{"offer":1,"other":2,"offer":3}"#
        #expect { try JSONParser.parse(Array(doubled.utf8)) } throws: {
            ($0 as? JSONSyntaxError)?.reason == .duplicateKey("offer")
        }
    }

    @Test func `keys are compared by their bytes`() throws {
        let object = #"{"\u00e9":1,"e\u0301":2}"#
        guard case .object(let members) = try JSONParser.parse(Array(object.utf8)) else {
            Issue.record("no object")
            return
        }
        #expect(members["\u{e9}"] == .number(JSONNumber(1)))
        #expect(members["e\u{301}"] == .number(JSONNumber(2)))
    }

    @Test(.timeLimit(.minutes(1))) func `long runs of combining marks take linear time`() throws {
        // Swift's own comparison sorts the marks of one character. It takes minutes for these.
        let marks = String(repeating: "\u{301}\u{323}", count: 100_000)
        let object = "{\"\(marks)\":1,\"a\(marks)\":2}"
        guard case .object(let members) = try JSONParser.parse(Array(object.utf8)) else {
            Issue.record("no object")
            return
        }
        #expect(members["signedDate"] == nil)
    }

    @Test func `limits are checked before any work`() {
        let limits = JSONParser.Limits(bytes: 100, depth: 3)
        let deep = Array("[[[[]]]]".utf8)
        #expect { try JSONParser.parse(deep, limits: limits) } throws: {
            ($0 as? JSONSyntaxError)?.reason == .tooDeep(limit: 3)
        }
        let large = Array(repeating: UInt8(ascii: " "), count: 101)
        #expect { try JSONParser.parse(large, limits: limits) } throws: {
            ($0 as? JSONSyntaxError)?.reason == .tooLarge(limit: 100)
        }
    }

    @Test(arguments: ["12345678901234567890", "0.10", "1e400"])
    func `numbers keep their digits`(text: String) throws {
        guard case .number(let number) = try JSONParser.parse(Array(text.utf8)) else {
            Issue.record("no number")
            return
        }
        #expect(number.text == text)
        #expect(number.int64 == nil)
    }

    @Test(arguments: [
        (1990, "1.99"), (5000, "5"), (0, "0"), (4, "0.004"), (-50, "-0.05"), (9_999_900, "9999.9"),
        (Int64.min, "-9223372036854775.808"),
    ])
    func `a number in thousandths is written without trailing zeros`(thousandths: Int64, text: String) {
        #expect(JSONNumber(thousandths: thousandths).text == text)
    }
}
