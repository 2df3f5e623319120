import NIOSSL

/// Root certificates that a client trusts in addition to those of the system.
package struct AdditionalRoots: Sendable {
    private let certificates: [NIOSSLCertificate]

    /// Reads the certificates of a PEM text.
    ///
    /// - Returns: Nil if the text has no certificate, or an invalid one.
    package init?(pem: [UInt8]) {
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(pem), !certificates.isEmpty else { return nil }
        self.certificates = certificates
    }

    var tlsConfiguration: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.additionalTrustRoots = [.certificates(certificates)]
        return configuration
    }
}
