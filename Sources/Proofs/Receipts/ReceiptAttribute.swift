import SwiftASN1

/// An attribute of an app receipt's payload: a type, a version and a value. The type determines the form of the value.
///
///     ReceiptAttribute ::= SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }
///
/// The definition is from Apple's "Receipt Fields" and from measured receipts.
public struct ReceiptAttribute: Hashable, Sendable {
    public let type: Int
    /// The version: 2 for the opaque value, otherwise 1.
    public let version: Int
    public let value: ArraySlice<UInt8>

    public init(type: Int, version: Int = 1, value: [UInt8]) {
        self.init(type: type, version: version, value: value[...])
    }

    init(type: Int, version: Int, value: ArraySlice<UInt8>) {
        self.type = type
        self.version = version
        self.value = value
    }
}

/// Encodes attributes in DER.
extension ReceiptAttribute: DERSerializable {
    /// Encodes a payload: `SET OF ReceiptAttribute`, sorted as DER requires.
    static func encode(_ attributes: [ReceiptAttribute]) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serializeSetOf(attributes)
        return serializer.serializedBytes
    }

    public func serialize(into serializer: inout DER.Serializer) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { fields in
            try fields.serialize(type)
            try fields.serialize(version)
            try fields.serialize(ASN1OctetString(contentBytes: value))
        }
    }

    public static func string(_ type: Int, _ text: String) throws -> ReceiptAttribute {
        try encoded(type, ASN1UTF8String(text))
    }

    /// Encodes a date as an IA5String in RFC 3339. The string is empty if there is no date.
    public static func date(_ type: Int, _ date: Timestamp?) throws -> ReceiptAttribute {
        try ia5String(type, date?.rfc3339 ?? "")
    }

    public static func ia5String(_ type: Int, _ text: String) throws -> ReceiptAttribute {
        try encoded(type, ASN1IA5String(text))
    }

    public static func integer(_ type: Int, _ number: Int64) throws -> ReceiptAttribute {
        try encoded(type, number)
    }

    private static func encoded(_ type: Int, _ value: some DERSerializable) throws -> ReceiptAttribute {
        var serializer = DER.Serializer()
        try serializer.serialize(value)
        return ReceiptAttribute(type: type, value: serializer.serializedBytes)
    }
}
