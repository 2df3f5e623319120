import Catalog
import Foundation
import HTTPSupport
import Proofs
import Service
import TestSupport
import Testing

/// SIGHUP, which lets a service read its TLS certificate, its roots and its catalog anew.
@Suite struct ReloadTests {
    let till: TillProcess

    init() throws {
        till = try TillProcess(hasKeys: false)
    }

    private func reload(_ server: ServeProcess) { Foundation.kill(server.processIdentifier, SIGHUP) }

    /// The number of lines of the log with a text.
    private func count(_ text: String, in server: ServeProcess) throws -> Int {
        try server.log.components(separatedBy: text).count - 1
    }

    private func makeCertificate(_ name: String) async throws {
        try await Tool.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                "\(name).key", "-out", "\(name).crt", "-subj", "/CN=127.0.0.1", "-addext",
                "subjectAltName=IP:127.0.0.1", "-days", "2",
            ], in: till.folder.url)
    }

    private func install(_ name: String) throws {
        for suffix in ["crt", "key"] {
            try Data(contentsOf: till.folder.file("\(name).\(suffix)")).write(to: till.folder.file("tls.\(suffix)"))
        }
    }

    @Test func `new connections get the new TLS certificate, and one that does not load changes nothing`() async throws
    {
        for name in ["first", "second"] { try await makeCertificate(name) }
        try install("first")
        let server = try await ServeProcess(
            till,
            ["--tls-certificate", till.folder.file("tls.crt").path, "--tls-key", till.folder.file("tls.key").path])
        func isShown(_ name: String) async throws -> Bool {
            try await server.curl("/health/live", options: ["--cacert", till.folder.file("\(name).crt").path]).status
                == 204
        }
        #expect(try await isShown("first"))
        try install("second")
        // Nothing changes without the signal.
        #expect(try await isShown("first"))
        reload(server)
        try await expectEventually { try await isShown("second") }
        #expect(try await !isShown("first"))

        try Data("junk".utf8).write(to: till.folder.file("tls.crt"))
        reload(server)
        try await expectEventually { try count("not reloaded", in: server) == 1 }
        #expect(try server.log.contains("part=tls-certificate"))
        #expect(try server.log.contains("Cannot use the certificate \"\(till.folder.file("tls.crt").path)\""))
        // The other parts are read anew.
        try await expectEventually { try count("part=catalog", in: server) == 2 }
        #expect(try await isShown("second"))
        #expect(await server.end(SIGTERM) == 0)
    }

    @Test func `a root counts after the signal, and no longer once it is removed`() async throws {
        let key = try await till.makeKey()
        let chain = try TestChains.ellipticCurve.get()
        try Data(chain.root.certificate.der).write(to: till.folder.file("root.cer"))
        let server = try await ServeProcess(till)
        func redeem(_ number: Int) async throws -> String? {
            let payload = TestProofs.transactionPayload(transactionId: String(2_000_000_000_000_000 + number))
            let proof = String(decoding: try TestProofs.transaction(payload, chain: chain), as: UTF8.self)
            return try await server.curl(
                "/v1/users/alice/transactions", key: key, body: #"{"signedTransaction":"\#(proof)"}"#
            ).code
        }
        #expect(try await redeem(1) == "chainUntrusted")
        #expect(try await till.run("trust", "add", till.folder.file("root.cer").path).status == 0)
        #expect(try await redeem(1) == "chainUntrusted")
        reload(server)
        try await expectEventually { try await redeem(1) == nil }

        let fingerprint = chain.root.certificate.fingerprint.hexadecimal
        #expect(try await till.run("trust", "remove", fingerprint).status == 0)
        // The chain is known, and its root is still in memory.
        #expect(try await redeem(2) == nil)
        reload(server)
        try await expectEventually { try count("part=roots", in: server) == 2 }
        #expect(try await redeem(3) == "chainUntrusted")
    }

    @Test func `a new catalog counts after the signal, and one that does not load leaves the old one`() async throws {
        let key = try await till.run("keys", "make", "shop", "--scope", "read", "--scope", "metrics", "--json").decoded(
            MadeKey.self
        ).key
        let folder = till.folder.folder("catalog")
        try FileManager.default.copyItem(at: Project.products, to: folder)
        let file = folder.appending(path: Catalog.configurationFile)
        let text = try String(contentsOf: file, encoding: .utf8)
        let product = try #require(try Catalog(folder: folder).products.first)
        let name = try #require(text.firstMatch(of: /"displayName" ?: "([^"]+)"/)).1
        let server = try await ServeProcess(till, ["--catalog", folder.path])
        func isShown(_ text: String) async throws -> Bool {
            let answer = try await server.curl("/v1/products", key: key)
            return answer.status == 200 && String(decoding: answer.body, as: UTF8.self).contains(text)
        }
        func isReloaded() async throws -> Bool {
            let metrics = try await server.curl("/metrics", key: key)
            return String(decoding: metrics.body, as: UTF8.self).contains("\ntill_last_reload_successful 1\n")
        }
        #expect(try await !isShown("Moonlight"))
        try Data(text.replacing(name, with: "Moonlight").utf8).write(to: file)
        reload(server)
        try await expectEventually { try await isShown("Moonlight") }
        #expect(try await isReloaded())

        try Data("{".utf8).write(to: file)
        reload(server)
        try await expectEventually { try count("not reloaded", in: server) == 1 }
        try await expectEventually { try await !isReloaded() }
        #expect(try server.log.contains("part=catalog"))
        #expect(try server.log.contains(Catalog.configurationFile))
        #expect(try await isShown("Moonlight"))
        #expect(try await isShown(product.productIdentifier))

        try Data(text.utf8).write(to: file)
        reload(server)
        try await expectEventually { try await !isShown("Moonlight") }
        try await expectEventually { try await isReloaded() }
        #expect(await server.end(SIGTERM) == 0)
    }

    @Test func `the catalog of another app is not taken`() async throws {
        let folder = till.folder.folder("catalog")
        try FileManager.default.copyItem(at: Project.products, to: folder)
        let file = folder.appending(path: Catalog.itemsFile)
        let text = try String(contentsOf: file, encoding: .utf8)
        let identifier = try Catalog(folder: folder).bundleIdentifier
        let server = try await ServeProcess(till, ["--catalog", folder.path])
        try Data(text.replacing("\"\(identifier)\"", with: "\"com.example.other\"").utf8).write(to: file)
        reload(server)
        try await expectEventually { try server.log.contains("cannot change while the service runs") }
        #expect(await server.end(SIGTERM) == 0)
    }
}
