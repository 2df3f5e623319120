import Foundation
import HTTPSupport
import Proofs
import Testing

@Suite struct AnswerFieldsTests {
    private enum Kind: String, CaseIterable, Codable, AnswerValue {
        case first, second
    }

    /// An answer with a field of each kind, and the same for `JSONEncoder`.
    private struct Sample: AnswerObject, Encodable {
        struct Part: AnswerObject, Encodable {
            static let answerFields = AnswerFields<Self>("A part.", named: "Part", isClosed: true) {
                $0.field("_id", \.identifier)
            }

            let identifier: Int64

            enum CodingKeys: String, CodingKey {
                case identifier = "_id"
            }
        }

        static let answerFields = AnswerFields<Self>("A sample.", named: "Sample") {
            $0.field("text", "A text.", \.text)
            $0.field("kind", \.kind)
            $0.field("isKnown", \.isKnown)
            $0.field("number", .integer(in: 1 ... .max), \.number)
            $0.field("parts", "The parts.", \.parts)
            $0.field("missing", \.missing)
            $0.field("sums", \.sums)
            $0.field("content", \.content)
            $0.field("Zone", \.zone)
        }

        var text = "a/\u{0}\u{1F}\"\\\n\r\t\u{8}\u{C}\u{7F}\u{2028}ü🌱"
        var kind = Kind.second
        var isKnown = true
        var number = -1
        var parts = [Part(identifier: .min), Part(identifier: .max)]
        var missing: String?
        var sums = ["b": [Int64](), "a": [1, 2], "B": [3]]
        var content = JSONContent.object([
            "b": .array([.null, .bool(false), .number(1.5), .number(1e20)]), "a": .object([:]), "c": .integer(7),
        ])
        var zone: String? = "UTC"

        enum CodingKeys: String, CodingKey {
            case text, kind, isKnown, number, parts, missing, sums, content
            case zone = "Zone"
        }
    }

    @Test func `an answer has the bytes of an encoder with sorted keys`() throws {
        #expect(try Sample().json() == JSONAnswer.encode(Sample()))
    }

    private struct Named: AnswerObject {
        static let answerFields = AnswerFields<Self>("A change.") {
            $0.field("at", "The time.", \.at)
            $0.field("id", \.identifier)
            $0.field("by", \.key)
            $0.keyName("byName", \.key)
        }

        let at = Timestamp(secondsSince1970: 0)
        let identifier = UUID(uuidString: "4C2F8C6E-1F0F-4B0A-9A55-2F1B7E3C9D10")
        let key: String
    }

    @Test func `moments are dates, UUIDs are lowercase, and keys are named if their names are known`() throws {
        let rest = #""id":"4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10"}"#
        #expect(
            try String(decoding: Named(key: "k").json(naming: ["k": "Desk"]), as: UTF8.self)
                == #"{"at":"1970-01-01T00:00:00Z","by":"k","byName":"Desk","# + rest)
        #expect(
            try String(decoding: Named(key: "x").json(naming: ["k": "Desk"]), as: UTF8.self)
                == #"{"at":"1970-01-01T00:00:00Z","by":"x","# + rest)
    }

    @Test func `the schema has the types and notes of the fields`() {
        #expect(
            JSONValue.object(Named.schema.keywords).compactText == """
                {"type":"object","description":"A change.","required":["at","by"],"properties":{\
                "at":{"type":"string","description":"The time. RFC 3339, UTC.","format":"date-time"},\
                "id":{"type":"string","format":"uuid"},"by":{"type":"string"},\
                "byName":{"type":"string","description":\
                "The name of the API key; absent if the service does not have the key."}}}
                """)
        let list = JSONValue.object(Schema.array(of: Sample.schema).keywords).compactText
        #expect(list == ##"{"type":"array","items":{"$ref":"#/components/schemas/Sample"}}"##)
    }
}
