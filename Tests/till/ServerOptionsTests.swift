import Foundation
import TestSupport
import Testing

/// The option `--server`. A command sends a credential unencrypted only to this machine or with `--insecure`.
@Suite struct ServerOptionsTests {
    private func run(_ arguments: [String], key: String) async throws -> TillProcess.Result {
        try await TillProcess(hasKeys: false).run(
            arguments: arguments, environment: ["TILL_API_KEY": key, "TILL_TOKEN": ""])
    }

    @Test(
        arguments: [
            ["products"], ["owned", "alice"], ["buy", "x", "--user", "alice"], ["resume", "--user", "alice"],
            ["restore", "--user", "alice"], ["receipt", "validate", "x"],
            ["receipt", "redeem", "x", "--user", "alice"],
        ])
    func `a credential is not sent unencrypted to another machine`(arguments: [String]) async throws {
        let refused = try await run(arguments + ["--server", "http://shop.example:8080"], key: "till_a_b")
        #expect(refused.status == 64)
        #expect(
            refused.error.contains(
                "\"http://shop.example:8080\" would send the credential unencrypted. Use https, or add --insecure for a "
                    + "network you trust."))
    }

    @Test(arguments: [
        ["why", "alice", "sprout", "1"], ["story", "alice"], ["owned", "alice"],
        ["give", "alice", "sprout", "1", "--reason", "x"], ["revoke", "alice", "1", "--reason", "x"],
    ])
    func `the ledger in a file is not used in place of a database`(arguments: [String]) async throws {
        let till = try TillProcess(hasKeys: false)
        // The data directory has a ledger.
        #expect(try await till.run("keys", "make", "shop").status == 0)
        let database = "postgres://till@127.0.0.1:1/till"
        let refused = try await till.run(arguments: arguments, environment: ["TILL_LEDGER": database])
        #expect(refused.status == 64)
        #expect(refused.error.contains("TILL_LEDGER names a database"))
        #expect(refused.error.contains("--server"))
    }

    @Test(arguments: [
        "http://127.0.0.1.shop.example", "http://localhost.shop.example", "http://10.0.0.1", "http://128.0.0.1",
        "http://[2001:db8::1]",
    ])
    func `an address that resembles this machine is another`(address: String) async throws {
        #expect(try await run(["products", "--server", address], key: "till_a_b").error.contains("unencrypted"))
    }

    /// The command accepts the address before it reports the missing key, so it sends nothing.
    @Test(arguments: [
        ["https://shop.example"], ["http://127.0.0.1:8080"], ["http://127.9.9.9"], ["http://localhost"],
        ["http://LOCALHOST:8080/"], ["http://[::1]:8080"], ["http://shop.example", "--insecure"],
    ])
    func `TLS, this machine and --insecure are accepted`(arguments: [String]) async throws {
        let result = try await run(["products", "--server"] + arguments, key: "")
        #expect(result.status == 64)
        #expect(result.error.contains("Put the service's API key into TILL_API_KEY"))
        #expect(!result.error.contains("unencrypted"))
    }

    @Test func `--insecure without --server is refused`() async throws {
        let result = try await run(["products", "--insecure"], key: "")
        #expect(result.status == 64)
        #expect(result.error.contains("--insecure needs --server."))
    }

    @Test func `--ca-file trusts a root of one's own, and without it the certificate is refused`() async throws {
        let till = try TillProcess(hasKeys: false)
        let files = till.folder
        for name in ["tls", "other"] {
            try await Tool.run(
                "openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                    "\(name).key", "-out", "\(name).crt", "-subj", "/CN=127.0.0.1", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-days", "2",
                ], in: files.url)
        }
        let key = try await till.run("keys", "make", "shop", "--json").decoded(MadeKey.self).key
        let service = try await ServeProcess(
            till, ["--tls-certificate", files.file("tls.crt").path, "--tls-key", files.file("tls.key").path])
        func products(_ options: String...) async throws -> TillProcess.Result {
            try await till.run(
                arguments: ["products", "--server", service.url.absoluteString] + options,
                // No proxy of the environment is used, and no key of a connection is written.
                environment: [
                    "TILL_API_KEY": key, "TILL_TOKEN": "", "https_proxy": "http://127.0.0.1:1",
                    "all_proxy": "http://127.0.0.1:1", "SSLKEYLOGFILE": files.file("tls.log").path,
                ])
        }
        let trusted = try await products("--ca-file", "tls.crt")
        #expect(trusted.status == 0, "\(trusted.error)")
        #expect(!FileManager.default.fileExists(atPath: files.file("tls.log").path))
        for refused in [try await products(), try await products("--ca-file", "other.crt")] {
            #expect(refused.status == 1)
            #expect(refused.error.contains("its TLS certificate is not trusted"))
            #expect(refused.error.contains("--ca-file"))
        }
    }

    @Test(arguments: [
        ("none.pem", "\"none.pem\" of --ca-file does not exist. Check the path."),
        (".", "\".\" of --ca-file cannot be read."),
        ("empty.pem", "\"empty.pem\" of --ca-file has no valid certificate."),
        ("text.pem", "\"text.pem\" of --ca-file has no valid certificate. Name a PEM file"),
        ("broken.pem", "\"broken.pem\" of --ca-file has no valid certificate."),
    ])
    func `a file without certificates is refused before anything is sent`(file: String, message: String) async throws {
        let till = try TillProcess(hasKeys: false)
        try Data().write(to: till.folder.file("empty.pem"))
        try Data("hello\n".utf8).write(to: till.folder.file("text.pem"))
        try Data("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)
            .write(to: till.folder.file("broken.pem"))
        let refused = try await till.run(
            arguments: ["products", "--server", "https://127.0.0.1:1", "--ca-file", file],
            environment: ["TILL_API_KEY": "till_a_b", "TILL_TOKEN": ""])
        #expect(refused.status == 1)
        #expect(refused.error.contains(message), "\(refused.error)")
    }

    @Test func `--ca-file needs an https server`() async throws {
        let alone = try await run(["products", "--ca-file", "x"], key: "")
        #expect(alone.status == 64)
        #expect(alone.error.contains("--ca-file needs --server."))
        let plain = try await run(["products", "--server", "http://127.0.0.1:1", "--ca-file", "x"], key: "till_a_b")
        #expect(plain.status == 64)
        #expect(plain.error.contains("--ca-file needs an https address; --server is \"http://127.0.0.1:1\"."))
    }
}
