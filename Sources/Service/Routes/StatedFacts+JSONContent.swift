import Foundation
import Proofs

extension StatedFacts {
    /// The facts under their names in answers, each in the form of its field.
    package var content: [String: JSONContent] {
        var members: [String: JSONContent] = [:]
        for (fact, value) in values { members[fact.rawValue] = JSONContent(value, as: fact.field.kind) }
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

    /// The value of a JSON text; nil for another text.
    init?(json text: String) {
        guard let value = try? JSONDecoder().decode(JSONContent.self, from: Data(text.utf8)) else { return nil }
        self = value
    }
}
