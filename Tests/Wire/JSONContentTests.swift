import Foundation
import HTTPSupport
import Service
import Testing

/// JSON of any form, as a wire type reads and writes it.
@Suite struct JSONContentTests {
    @Test(arguments: [
        ("null", JSONContent.null), ("true", .bool(true)), ("1", .integer(1)), ("1.5", .number(1.5)),
        ("-9223372036854775808", .integer(.min)), ("1e300", .number(1e300)), (#""1""#, .string("1")),
        ("[]", .array([])),
        (#"{"a":[false,null,{"b":0}]}"#, .object(["a": .array([.bool(false), .null, .object(["b": .integer(0)])])])),
    ])
    func `a value keeps its type`(json: String, content: JSONContent) throws {
        let read = try JSONDecoder().decode(JSONContent.self, from: Data(json.utf8))
        #expect(read == content)
        #expect(try JSONDecoder().decode(JSONContent.self, from: try JSONEncoder().encode(read)) == content)
    }

    @Test func `a member or a text is nil where there is none`() {
        let content = JSONContent.object(["a": .string("b")])
        #expect(content["a"]?.text == "b")
        #expect(content["b"] == nil && content.text == nil && JSONContent.array([content])["a"] == nil)
    }
}
