import Commerce
import Signatures
import SwiftASN1

/// One attribute of an app receipt's payload: a type, a version and a value whose form the type decides.
///
///     ReceiptAttribute ::= SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }
///
/// (Apple, "Receipt Fields", and the measured forms of its receipts.)
public struct ReceiptAttribute: Hashable, Sendable {
    public let type: Int
    /// 1, but for the opaque value, where Apple writes 2.
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

/// Writing attributes, in DER.
extension ReceiptAttribute: DERSerializable {
    /// A payload: `SET OF ReceiptAttribute`, sorted as DER asks.
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

    /// A date is an IA5String in RFC 3339; empty for none.
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
