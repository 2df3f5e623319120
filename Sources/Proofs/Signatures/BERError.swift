/// A defect in BER-encoded bytes.
public enum BERError: Error, Equatable, Sendable {
    case truncated
    case unexpectedTag
    case lengthOutOfRange
    case integerOutOfRange
    case tooDeep
    case trailingBytes
}
