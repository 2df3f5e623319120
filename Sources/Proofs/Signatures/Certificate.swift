import COpenSSL

/// An X.509 certificate (RFC 5280), parsed by OpenSSL.
public struct Certificate: Sendable {
    let handle: CertificateHandle
    public let der: [UInt8]
    public let publicKey: PublicKey
    /// The first second of validity, since 1970.
    public let notBefore: Int64
    /// The last second of validity, since 1970.
    public let notAfter: Int64

    /// - Returns: Nil unless the bytes are exactly one certificate in DER, with a key and dates that OpenSSL can read.
    public init?(der: [UInt8]) {
        defer { ERR_clear_error() }
        guard let parsed = OpenSSLMemory.object(in: der, { d2i_X509(nil, $0, $1) }) else { return nil }
        handle = CertificateHandle(owning: parsed.pointer)
        // The signature does not cover the outer lengths. Other lengths would be a second spelling of the same
        // certificate.
        guard parsed.isWhole, Self.encoding(of: parsed.pointer) == der, let key = X509_get_pubkey(handle.pointer)
        else { return nil }
        publicKey = PublicKey(handle: KeyHandle(owning: key))
        guard let notBefore = Self.secondsSince1970(X509_get0_notBefore(handle.pointer)),
            let notAfter = Self.secondsSince1970(X509_get0_notAfter(handle.pointer))
        else { return nil }
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.der = der
    }

    /// Reads one certificate from PEM (RFC 7468 section 5).
    package init?(pem: String) {
        guard let der = Base64.pem(pem, "CERTIFICATE") else { return nil }
        self.init(der: der)
    }

    /// Reads a certificate from OpenSSL's object, through its DER.
    init?(copying pointer: OpaquePointer) {
        guard let der = Self.encoding(of: pointer) else { return nil }
        self.init(der: der)
    }

    /// Returns the DER of OpenSSL's certificate object.
    private static func encoding(of pointer: OpaquePointer) -> [UInt8]? {
        OpenSSLMemory.bytes { i2d_X509(pointer, $0) }
    }

    /// The DER of the issuer's name.
    public var issuer: [UInt8] { Self.der(of: X509_get_issuer_name(handle.pointer)) }

    /// The DER of the subject's name.
    public var subject: [UInt8] { Self.der(of: X509_get_subject_name(handle.pointer)) }

    /// The content bytes of the serial number, as in a DER INTEGER.
    public var serialNumber: [UInt8] {
        guard let integer = X509_get0_serialNumber(handle.pointer), let number = ASN1_INTEGER_to_BN(integer, nil) else {
            return []
        }
        defer { BN_free(number) }
        var bytes = [UInt8](repeating: 0, count: Int(BN_num_bits(number) + 7) / 8)
        BN_bn2bin(number, &bytes)
        if bytes.first.map({ $0 >= 0x80 }) ?? true { bytes.insert(0, at: 0) }
        return bytes
    }

    /// The subject's common name. Nil if there is none.
    public var commonName: String? {
        let name = X509_get_subject_name(handle.pointer)
        let index = X509_NAME_get_index_by_NID(name, NID_commonName, -1)
        return index < 0 ? nil : DistinguishedName.value(of: X509_NAME_get_entry(name, index))
    }

    /// True if the certificate may issue others according to its basic constraints (RFC 5280 section 4.2.1.9).
    public var isAuthority: Bool {
        X509_get_extension_flags(handle.pointer) & UInt32(EXFLAG_CA) != 0
    }

    /// True if issuer and subject have the same name, as in every root.
    public var isSelfIssued: Bool {
        X509_get_extension_flags(handle.pointer) & UInt32(EXFLAG_SI) != 0
    }

    /// True if the certificate limits the names of those below it (RFC 5280 section 4.2.1.10).
    var hasNameConstraints: Bool { X509_get_ext_by_NID(handle.pointer, NID_name_constraints, -1) >= 0 }

    /// True if the certificate is valid at a second since 1970. OpenSSL treats the last second as expired.
    func isValid(at moment: Int64) -> Bool { notBefore <= moment && moment < notAfter }

    public func has(_ appleExtension: AppleExtension) -> Bool {
        guard let identifier = OBJ_txt2obj(appleExtension.rawValue, 1) else { return false }
        defer { ASN1_OBJECT_free(identifier) }
        return X509_get_ext_by_OBJ(handle.pointer, identifier, -1) >= 0
    }

    /// The addresses of the issuer's OCSP responders (authority information access, RFC 5280 section 4.2.2.1).
    public var ocspResponders: [String] {
        guard let stack = till_ocsp_responders(handle.pointer) else { return [] }
        defer { till_string_stack_free(stack) }
        return (0..<till_string_stack_count(stack)).compactMap { index in
            till_string_stack_value(stack, index).map { String(cString: $0) }
        }
    }

    /// The certificate in PEM (RFC 7468 section 5).
    public var pem: String {
        let lines = stride(from: 0, to: der.count, by: 48).map {
            Base64.encode(der[$0..<min($0 + 48, der.count)])
        }
        return "-----BEGIN CERTIFICATE-----\n" + lines.joined(separator: "\n") + "\n-----END CERTIFICATE-----\n"
    }

    /// The SHA-256 of the certificate's bytes. Apple publishes it for its roots.
    public var fingerprint: [UInt8] { DigestAlgorithm.sha256.digest(of: der) }

    static func secondsSince1970(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        guard let time, let epoch = ASN1_TIME_set(nil, 0) else { return nil }
        defer { ASN1_TIME_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
        return Int64(days) * 86_400 + Int64(seconds)
    }

    private static func der(of name: OpaquePointer?) -> [UInt8] {
        var start: UnsafePointer<UInt8>?
        var length = 0
        guard X509_NAME_get0_der(name, &start, &length) == 1, let start else { return [] }
        return Array(UnsafeBufferPointer(start: start, count: length))
    }
}

extension Certificate: Hashable {
    public static func == (left: Certificate, right: Certificate) -> Bool { left.der == right.der }

    public func hash(into hasher: inout Hasher) { hasher.combine(der) }
}

/// The parts of a certificate that people read.
extension Certificate {
    /// The prefix of Apple's object identifiers.
    private static let appleArc = "1.2.840.113635."

    public var subjectName: DistinguishedName { DistinguishedName(X509_get_subject_name(handle.pointer)) }

    public var issuerName: DistinguishedName { DistinguishedName(X509_get_issuer_name(handle.pointer)) }

    /// The object identifiers of Apple's extensions, in the order of the certificate.
    public var appleExtensions: [String] {
        (0..<max(0, X509_get_ext_count(handle.pointer))).compactMap { index in
            guard let found = X509_get_ext(handle.pointer, index) else { return nil }
            let digits = ObjectIdentifierText.digits(of: X509_EXTENSION_get_object(found))
            return digits.hasPrefix(Self.appleArc) ? digits : nil
        }
    }
}

/// An owner of an OpenSSL certificate, which it frees.
///
/// The class is unchecked because the pointer refers to C memory. The pointer never changes, and the certificate does
/// not change after it was read. OpenSSL guards the cached extensions with its own lock.
final class CertificateHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// - Parameter pointer: An `X509` whose only reference passes to this object.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        X509_free(pointer)
    }
}

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
            guard let entry = X509_NAME_get_entry(name, index), let value = Self.value(of: entry) else { return nil }
            return Attribute(
                type: ObjectIdentifierText.shortName(of: X509_NAME_ENTRY_get_object(entry)), value: value)
        }
    }

    fileprivate static func value(of entry: OpaquePointer?) -> String? {
        guard let data = X509_NAME_ENTRY_get_data(entry) else { return nil }
        return OpenSSLMemory.bytes { ASN1_STRING_to_UTF8($0, data) }.map { String(decoding: $0, as: UTF8.self) }
    }
}

enum ObjectIdentifierText {
    /// OpenSSL's short name, such as `CN`; the digits if it has none.
    static func shortName(of identifier: OpaquePointer?) -> String {
        let number = OBJ_obj2nid(identifier)
        guard number != NID_undef, let name = OBJ_nid2sn(number) else { return digits(of: identifier) }
        return String(cString: name)
    }

    /// The digits, such as `1.2.840.113635.100.6.11.1`.
    static func digits(of identifier: OpaquePointer?) -> String {
        guard let identifier else { return "" }
        return OpenSSLMemory.text { OBJ_obj2txt($0, Int32($1), identifier, 1) > 0 } ?? ""
    }
}
