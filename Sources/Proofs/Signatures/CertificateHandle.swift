import COpenSSL

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
