import COpenSSL
import Foundation
import Proofs

/// The certificate of a server with its key, and the rules of its connections: TLS 1.2 and later, with forward secrecy.
///
/// The class is unchecked because the pointer refers to C memory, which nothing changes after `init`. OpenSSL counts its users under a
/// lock of its own.
package final class TLSContext: @unchecked Sendable {
    /// A chain or a key that is not in PEM, or a key of another certificate.
    struct Refusal: Error {}

    /// The suites of TLS 1.2 with ephemeral keys and authenticated encryption. TLS 1.3 has no others.
    ///
    /// RFC 9325 (section 4.1) forbids suites whose recorded traffic the key of the certificate decrypts. RFC 8996 forbids TLS 1.1.
    private static let suites = [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305",
        "ECDHE-RSA-CHACHA20-POLY1305", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
    ]
    /// The groups that are quick: a stranger may ask for many handshakes.
    private static let groups = ["X25519", "P-256", "P-384"]

    package let pointer: OpaquePointer

    /// - Parameters:
    ///   - chain: The certificates of the server in PEM, its own first.
    ///   - key: The key of its own, in PEM without a password.
    package init(chain: [UInt8], key: [UInt8]) throws {
        defer { ERR_clear_error() }
        guard
            let pointer = till_tls_server_context(
                TLS1_2_VERSION, Self.suites.joined(separator: ":"), Self.groups.joined(separator: ":"))
        else { throw Refusal() }
        self.pointer = pointer
        var leaf = true
        let isChain = PEMText.certificates(in: chain) { certificate in
            defer { leaf = false }
            return (leaf ? SSL_CTX_use_certificate : till_tls_add_certificate)(pointer, certificate) == 1
        }
        guard isChain, PEMText.key(in: key, { SSL_CTX_use_PrivateKey(pointer, $0) == 1 }),
            SSL_CTX_check_private_key(pointer) == 1
        else { throw Refusal() }
    }

    deinit { SSL_CTX_free(pointer) }

    /// The end of the certificate's validity; nil if it cannot be read.
    var endsAt: Timestamp? {
        var time = tm()
        guard let certificate = SSL_CTX_get0_certificate(pointer),
            ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &time) == 1
        else { return nil }
        return Timestamp(secondsSince1970: Int64(timegm(&time)))
    }
}

/// Certificates and keys in PEM (RFC 7468), as OpenSSL reads them. Without callbacks it would ask for passwords on the terminal.
enum PEMText {
    /// Calls `body` with each certificate, until it returns false.
    ///
    /// - Returns: True if there is a certificate, each is valid, and `body` has returned true for each.
    static func certificates(in text: [UInt8], _ body: (OpaquePointer) -> Bool = { _ in true }) -> Bool {
        read(text) { bio in
            var count = 0
            while let certificate = PEM_read_bio_X509(bio, nil, { _, _, _, _ in -1 }, nil) {
                defer { X509_free(certificate) }
                guard body(certificate) else { return false }
                count += 1
            }
            // At the end there is no further beginning. Any other error is that of a certificate.
            return count > 0 && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE
        }
    }

    /// Calls `body` with the key.
    ///
    /// - Returns: The answer of `body`; false without a key.
    static func key(in text: [UInt8], _ body: (OpaquePointer) -> Bool) -> Bool {
        read(text) { bio in
            guard let key = PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil) else { return false }
            defer { EVP_PKEY_free(key) }
            return body(key)
        }
    }

    private static func read(_ text: [UInt8], _ body: (OpaquePointer) -> Bool) -> Bool {
        guard let bio = BIO_new(BIO_s_mem()) else { return false }
        defer {
            BIO_free(bio)
            ERR_clear_error()
        }
        return BIO_write(bio, text, Int32(text.count)) == text.count && body(bio)
    }
}
