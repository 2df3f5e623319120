import Foundation
import Proofs

/// Checks untrusted JSON before Foundation's decoder, which hashes keys by canonical equivalence.
///
/// It limits keys and non-ASCII strings, so the decoder's work stays proportional to the size of the body.
package enum CheckedJSON {
    /// The maximum length of a key, in bytes.
    private static let maximumKeyLength = 256
    /// The maximum length of a non-ASCII string, in bytes.
    private static let maximumTextLength = 1024

    /// Decodes a body.
    ///
    /// - Throws: `CheckedJSON.Refusal` if a key or string is too long; `JSONSyntaxError`; `DecodingError`.
    package static func decode<Body: Decodable>(_ type: Body.Type, from bytes: [UInt8]) throws -> Body {
        try check(try JSONParser.parse(bytes, limits: .init(bytes: bytes.count)))
        return try JSONDecoder().decode(type, from: Data(bytes))
    }

    package struct Refusal: Error {}

    package static func check(_ value: JSONValue) throws(Refusal) {
        switch value {
        case .object(let object):
            for member in object.members {
                guard member.key.utf8.count <= maximumKeyLength else { throw Refusal() }
                try check(member.value)
            }
        case .array(let elements): for element in elements { try check(element) }
        case .string(let text):
            guard text.utf8.count <= maximumTextLength || text.utf8.allSatisfy({ $0 < 0x80 }) else { throw Refusal() }
        case .number, .bool, .null: break
        }
    }
}
