import COpenSSL

/// The name of a certificate's subject or issuer (RFC 5280 section 4.1.2.4), for people to read.
///
/// A chain compares names by their DER. Two names with the same text may differ.
public struct DistinguishedName: Hashable, Sendable, CustomStringConvertible {
    /// An attribute of a name, such as `CN` with the value `Apple Root CA - G3`.
    public struct Attribute: Hashable, Sendable {
        /// OpenSSL's short name of the type, or the object identifier in digits.
        public let type: String
        public let value: String
    }

    /// The attributes in the order of the certificate.
    public let attributes: [Attribute]

    public var description: String {
        attributes.map { "\($0.type)=\($0.value)" }.joined(separator: ", ")
    }
}

extension DistinguishedName {
    /// The maximum number of attributes read. Apple's names have four.
    private static let maximumAttributes = 16

    init(_ name: OpaquePointer?) {
        let count = min(max(0, X509_NAME_entry_count(name)), Int32(Self.maximumAttributes))
        attributes = (0..<count).compactMap { index in
            guard let entry = X509_NAME_get_entry(name, index) else { return nil }
            var text: UnsafeMutablePointer<UInt8>?
            let length = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry))
            guard length >= 0, let text else { return nil }
            defer { CRYPTO_free(text, nil, 0) }
            return Attribute(
                type: ObjectIdentifierText.shortName(of: X509_NAME_ENTRY_get_object(entry)),
                value: String(decoding: UnsafeBufferPointer(start: text, count: Int(length)), as: UTF8.self))
        }
    }
}
