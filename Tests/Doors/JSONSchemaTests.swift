import Proofs
import TestSupport
import Testing

/// The validator of the answers' schemas.
@Suite struct JSONSchemaTests {
    private static let text = """
        {"type": "object", "required": ["name"], "additionalProperties": {"type": "boolean"},
         "anyOf": [{"required": ["count"]}, {"required": ["list"]}],
         "properties": {"name": {"type": "string", "pattern": "^[a-z]+$", "minLength": 2},
           "count": {"type": "integer", "minimum": 0}, "kind": {"enum": ["a", null]},
           "list": {"type": ["array", "null"], "minItems": 1, "items": {"$ref": "#/$defs/number"}}},
         "$defs": {"number": {"type": "number"}}}
        """

    @Test(arguments: [
        (#"{"name":"ab","count":0,"kind":null,"list":[1.5],"more":true}"#, []),
        (#"{"name":"ab","list":null}"#, []),
        (#"[]"#, [": type"]),
        (#"{"count":1}"#, ["/name: required"]),
        (#"{"name":"ab"}"#, [": anyOf"]),
        (#"{"name":"a","count":1}"#, ["/name: minLength"]),
        (#"{"name":"AB","count":1}"#, ["/name: pattern"]),
        (#"{"name":"ab","count":1.5}"#, ["/count: type"]),
        (#"{"name":"ab","count":-1}"#, ["/count: minimum"]),
        (#"{"name":"ab","count":1,"kind":"b"}"#, ["/kind: enum"]),
        (#"{"name":"ab","list":[]}"#, ["/list: minItems"]),
        (#"{"name":"ab","list":[1,"2"]}"#, ["/list/1: type"]),
        (#"{"name":"ab","count":1,"more":1}"#, ["/more: type"]),
    ])
    func `each keyword finds its violation`(instance: String, violations: [String]) throws {
        let found = try JSONSchema(text: Self.text).violations(in: try JSONParser.parse(Array(instance.utf8)))
        #expect(found.map(\.description) == violations)
    }

    @Test(arguments: [
        #"{"requires": []}"#, ##"{"$ref": "#/$defs/none"}"##, #"{"properties": {"a": {"types": "string"}}}"#, "[]",
    ])
    func `a misspelled schema is refused`(text: String) {
        let instance = JSONValue.object(["a": "b"])
        #expect(throws: JSONSchema.Invalid.self) { try JSONSchema(text: text).violations(in: instance) }
    }

    @Test func `each mutation of a valid instance is refused`() throws {
        let schema = try JSONSchema(text: Self.text)
        let instance: JSONValue = .object(["name": "ab", "count": .integer(1), "list": .array([.integer(2)])])
        let mutations = try schema.mutations(of: instance)
        #expect(mutations.map(\.path) == ["", "/name absent", "/name", "/count", "/list", "/list/0"])
        for mutation in mutations {
            #expect(try !schema.violations(in: mutation.instance).isEmpty, "\(mutation.path)")
        }
    }
}
