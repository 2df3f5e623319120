import Foundation
import HTTPSupport
import TestSupport
import Testing

/// A certificate for 127.0.0.1 and receiver.invalid, with its key.
struct TLSIdentity {
    let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder()
        try await Tool.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                "key.pem", "-out", "certificate.pem", "-subj", "/CN=receiver.invalid", "-addext",
                "subjectAltName=IP:127.0.0.1,DNS:receiver.invalid", "-days", "2",
            ], in: folder.url)
    }

    var roots: AdditionalRoots {
        get throws {
            try #require(AdditionalRoots(pem: Array(try Data(contentsOf: folder.file("certificate.pem")))))
        }
    }

    var server: TLSContext {
        get throws {
            try TLSContext(
                chain: Array(try Data(contentsOf: folder.file("certificate.pem"))),
                key: Array(try Data(contentsOf: folder.file("key.pem"))))
        }
    }
}
