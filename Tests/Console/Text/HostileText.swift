import Foundation
import Proofs

/// A text that a stranger could send, around a marker that no other text has.
struct HostileText: Sendable {
    /// The field that the text is for.
    let field: String
    let before: String
    let marker: String
    let after: String

    var text: String { before + marker + after }

    /// The text as a segment or a parameter of an address.
    var encoded: String { Self.encode(text) }

    /// The parts around the marker, as pages write them.
    struct Form: Sendable {
        let before: [UInt8]
        let after: [UInt8]
        /// True if a person reads the text itself in this form.
        let isReadable: Bool
    }

    /// The forms of the text: itself, in JSON, in an address, and each as a word of a shell.
    var forms: [Form] {
        let escaped: (String) -> String = { Self.inJSON($0) }
        let slashed: (String) -> String = { Self.inJSON($0).replacing("/", with: "\\/") }
        let quoted: (String) -> String = { $0.replacing("'", with: #"'\''"#) }
        let encodings: [(encode: (String) -> String, isReadable: Bool)] = [
            ({ $0 }, true), (escaped, true), (slashed, false), (quoted, false), ({ quoted(escaped($0)) }, false),
            ({ quoted(slashed($0)) }, false), (Self.encode, false), ({ Self.encode(Self.encode($0)) }, false),
        ]
        return encodings.map { encoding in
            Form(
                before: Array(encoding.encode(before).utf8), after: Array(encoding.encode(after).utf8),
                isReadable: encoding.isReadable)
        }
    }

    /// The text between the quotes of JSON.
    static func inJSON(_ text: String) -> String {
        String(JSONValue.string(text).compactText.dropFirst().dropLast())
    }

    /// Encodes everything but the unreserved characters (RFC 3986 section 2.3).
    static func encode(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}
