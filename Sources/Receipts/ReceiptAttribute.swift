import Commerce
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
    public let value: [UInt8]

    public init(type: Int, version: Int = 1, value: [UInt8]) {
        self.type = type
        self.version = version
        self.value = value
    }

    /// The payload's `SET OF ReceiptAttribute`, sorted as DER asks.
    static func encode(_ attributes: [ReceiptAttribute]) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serializeSetOf(attributes)
        return serializer.serializedBytes
    }

    /// Reads a `SET OF ReceiptAttribute` in any order, since Xcode does not sort.
    static func decode(_ bytes: [UInt8]) throws -> [ReceiptAttribute] {
        try BER.set(of: ReceiptAttribute.self, identifier: .set, rootNode: try BER.parse(bytes))
    }
}

extension ReceiptAttribute: BERParseable, DERSerializable {
    public init(derEncoded node: ASN1Node) throws {
        try self.init(berEncoded: node)
    }

    public init(berEncoded node: ASN1Node) throws {
        self = try BER.sequence(node, identifier: .sequence) { fields in
            let type = try Int(berEncoded: &fields)
            let version = try Int(berEncoded: &fields)
            let value = try ASN1OctetString(berEncoded: &fields)
            return ReceiptAttribute(type: type, version: version, value: Array(value.bytes))
        }
    }

    public func serialize(into serializer: inout DER.Serializer) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { fields in
            try fields.serialize(type)
            try fields.serialize(version)
            try fields.serialize(ASN1OctetString(contentBytes: value[...]))
        }
    }
}

/// The forms of an attribute's value.
extension ReceiptAttribute {
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

    func string() throws -> String {
        String(try ASN1UTF8String(berEncoded: value))
    }

    /// nil for the empty text that says there is no date.
    func date() throws -> Timestamp? {
        let text = String(try ASN1IA5String(berEncoded: value))
        guard !text.isEmpty else { return nil }
        guard let date = Timestamp(rfc3339: text) else { throw AppReceiptError.dateInvalid(attribute: type) }
        return date
    }

    func integer() throws -> Int64 {
        try Int64(berEncoded: value)
    }
}
