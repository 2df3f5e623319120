import AppStore
import Foundation
import Proofs
import TestSupport
import Testing

/// The store's TLS certificate, verified by the program `openssl`.
@Suite struct ServerIdentityTests {
    let folder: TemporaryFolder
    let clock = ManualClock(SystemClock().now())

    init() throws {
        folder = try TemporaryFolder()
    }

    private func identity() throws -> ServerIdentity {
        try ServerIdentity(folder: folder.folder("tls"), clock: clock, randomness: .system)
    }

    @Test func `the certificate is valid for Apple's host names and no other`() async throws {
        let identity = try identity()
        func verify(_ option: String, _ name: String) async throws {
            try await Tool.run(
                "openssl",
                [
                    "verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", identity.authority.path, option, name,
                    identity.certificate.path,
                ], in: folder.url)
        }
        for name in ServerIdentity.hostNames where name != "127.0.0.1" { try await verify("-verify_hostname", name) }
        try await verify("-verify_ip", "127.0.0.1")
        await #expect(throws: Tool.Failure.self) { try await verify("-verify_hostname", "example.com") }
    }

    @Test func `a restart keeps the authority and makes a new certificate`() throws {
        func contents() throws -> [Data] {
            let identity = try identity()
            return try [identity.authority, identity.certificate].map { try Data(contentsOf: $0) }
        }
        let first = try contents()
        let second = try contents()
        #expect(first[0] == second[0])
        #expect(first[1] != second[1])
        let mode = try FileManager.default.attributesOfItem(atPath: identity().key.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `a damaged authority is not replaced`() throws {
        _ = try identity()
        try Data("none".utf8).write(to: folder.folder("tls").appending(path: "authority.cer"))
        #expect(throws: StoreError.self) { try identity() }
    }
}
