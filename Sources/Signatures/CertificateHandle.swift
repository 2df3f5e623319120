import COpenSSL

/// An OpenSSL certificate, freed with its last owner.
///
/// Unchecked because the pointer is to C: it never changes, the certificate is not altered after it was read, and OpenSSL
/// guards what it computes of a certificate later (the cached extensions) with a lock of its own.
final class CertificateHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// - Parameter pointer: An `X509` whose one reference passes to this object.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        X509_free(pointer)
    }
}
