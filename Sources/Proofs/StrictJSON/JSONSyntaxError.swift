/// A syntax error in JSON, with its position.
public struct JSONSyntaxError: Error, Equatable, Sendable {
    /// The cause of the error.
    public enum Reason: Equatable, Sendable {
        case tooLarge(limit: Int)
        case tooDeep(limit: Int)
        case unexpectedEnd
        case unexpectedCharacter
        case invalidNumber
        case invalidEscape
        case invalidUTF8
        case duplicateKey(String)
        case trailingCharacters
    }

    public let reason: Reason
    /// The offset from the start of the text, in bytes.
    public let offset: Int

    public var message: String {
        switch reason {
        case .tooLarge(let limit): "the text has more than \(limit) bytes"
        case .tooDeep(let limit): "the nesting at byte \(offset) is deeper than \(limit) levels"
        case .unexpectedEnd: "the text ends too early"
        case .unexpectedCharacter: "the character at byte \(offset) is unexpected"
        case .invalidNumber: "the number at byte \(offset) is not valid JSON"
        case .invalidEscape: "the escape at byte \(offset) is not valid JSON"
        case .invalidUTF8: "the string at byte \(offset) is not UTF-8"
        case .duplicateKey(let key):
            "the key \"\(String(decoding: key.utf8.prefix(64), as: UTF8.self))\" appears twice in one object, at byte \(offset)"
        case .trailingCharacters: "the text continues after the value at byte \(offset)"
        }
    }
}
