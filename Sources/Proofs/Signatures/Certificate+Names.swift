import COpenSSL

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
