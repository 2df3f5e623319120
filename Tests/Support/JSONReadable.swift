import Foundation

/// An answer or an output with JSON.
package protocol JSONReadable {
    var jsonData: Data { get }
}

extension JSONReadable {
    /// The JSON as a value of a wire type.
    package func decoded<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: jsonData)
    }
}
