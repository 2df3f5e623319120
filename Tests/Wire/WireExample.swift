import Foundation
import Testing
import Wire

/// A wire type with an example of its JSON.
struct WireExample: CustomTestStringConvertible, Sendable {
    let typeName: String
    let json: Data
    /// Decodes a value from JSON and encodes it again.
    let recode: @Sendable (Data) throws -> Data

    init<Value: Codable & Sendable>(_ type: Value.Type, _ json: String) {
        typeName = "\(type)"
        self.json = Data(json.utf8)
        recode = { try JSONEncoder().encode(try JSONDecoder().decode(Value.self, from: $0)) }
    }

    var testDescription: String { "\(typeName), \(json.count) bytes" }

    static let all = users + catalog + figures + messages + offerings + store + support
}
