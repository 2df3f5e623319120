/// An element of BER: its tag and its ranges in the bytes.
public struct BERElement: Sendable {
    /// The class, form and number in one byte (X.690 section 8.1.2).
    public let tag: UInt8
    public let content: Range<Int>
    /// The range of the tag, length and content.
    public let encoded: Range<Int>
}

/// The BER tags in proofs.
public enum BERTag {
    public static let integer: UInt8 = 0x02
    public static let octetString: UInt8 = 0x04
    public static let null: UInt8 = 0x05
    static let objectIdentifier: UInt8 = 0x06
    static let utf8String: UInt8 = 0x0C
    static let ia5String: UInt8 = 0x16
    public static let sequence: UInt8 = 0x30
    public static let set: UInt8 = 0x31
    /// The explicit or implicit tags of the container, by number.
    public static let context0: UInt8 = 0xA0
    static let context1: UInt8 = 0xA1

    static let constructed: UInt8 = 0x20
    static let constructedOctetString: UInt8 = 0x24
}
