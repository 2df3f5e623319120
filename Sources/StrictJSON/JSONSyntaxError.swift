/// Why a text is not JSON that Till reads, and where.
public struct JSONSyntaxError: Error, Equatable, Sendable {
    /// What was wrong.
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
    /// Bytes from the start of the text.
    public let offset: Int

    public var message: String {
        switch reason {
        case .tooLarge(let limit): "the text is longer than \(limit) bytes"
        case .tooDeep(let limit): "values are nested more than \(limit) deep at byte \(offset)"
        case .unexpectedEnd: "the text ends too early"
        case .unexpectedCharacter: "there is an unexpected character at byte \(offset)"
        case .invalidNumber: "the number at byte \(offset) is not written as JSON writes numbers"
        case .invalidEscape: "the escape at byte \(offset) is not one of JSON's"
        case .invalidUTF8: "the string at byte \(offset) is not UTF-8"
        case .duplicateKey(let key):
            "the key \"\(String(decoding: key.utf8.prefix(64), as: UTF8.self))\" stands twice in one object, at byte \(offset)"
        case .trailingCharacters: "something follows the value at byte \(offset)"
        }
    }
}
