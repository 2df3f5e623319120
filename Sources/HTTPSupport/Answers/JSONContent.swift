import Foundation
import Proofs

/// A JSON value of any form, such as a product's definition.
///
/// It keeps neither the order of members nor the digits of numbers.
package enum JSONContent: Codable, Hashable, Sendable {
    case object([String: JSONContent])
    case array([JSONContent])
    case string(String)
    case integer(Int64)
    case number(Double)
    case bool(Bool)
    case null

    /// The member of an object. Nil if the member is missing or the value is not an object.
    package subscript(name: String) -> JSONContent? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// The text. Nil if the value is not a string.
    package var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONContent].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONContent].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .object(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .bool(let value): try container.encode(value)
        case .null: try container.encodeNil()
        }
    }
}

extension JSONContent: AnswerValue {
    package static let schema = Schema.anyObject

    package func write(to json: inout AnswerJSON) throws {
        switch self {
        case .object(let value): try value.write(to: &json)
        case .array(let value): try value.write(to: &json)
        case .string(let value): json.string(value)
        case .integer(let value): value.write(to: &json)
        case .number(let value): json.append(try JSONAnswer.encode(value))
        case .bool(let value): value.write(to: &json)
        case .null: json.append("null")
        }
    }
}

extension StatedFacts {
    /// The facts under their names in answers, each in the form of its field.
    package var content: [String: JSONContent] {
        var members: [String: JSONContent] = [:]
        for fact in Fact.allCases {
            if let value = self[fact] { members[fact.rawValue] = JSONContent(value, as: fact.field.kind) }
        }
        return members
    }
}

extension JSONContent {
    /// Nil for a value in another form.
    fileprivate init?(_ value: StatedValue, as kind: StatedField.Kind) {
        switch (kind, value) {
        case (.text, .text(let text)), (.token, .text(let text)): self = .string(text)
        case (.integer, .integer(let number)): self = .integer(number)
        case (.bool, .integer(let number)): self = .bool(number != 0)
        case (.date, .integer(let number)): self = .string(Timestamp(millisecondsSince1970: number).rfc3339)
        case (.texts, .text(let text)), (.object, .text(let text)): self.init(json: text)
        case (_, .text), (_, .integer): return nil
        }
    }

    package init(answer json: [UInt8]) throws {
        self = try JSONDecoder().decode(JSONContent.self, from: Data(json))
    }

    /// The value of a JSON text; nil for another text.
    package init?(json text: String) {
        guard let value = try? JSONDecoder().decode(JSONContent.self, from: Data(text.utf8)) else { return nil }
        self = value
    }
}
