/// Why bytes are not the BER they should be.
public enum BERError: Error, Equatable, Sendable {
    case truncated
    case unexpectedTag
    case lengthOutOfRange
    case integerOutOfRange
    case tooDeep
    case trailingBytes
}
