import Foundation
import Testing

/// `--server`: no credential is sent unencrypted without the caller's word.
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
        "http://127.0.0.1.shop.example", "http://localhost.shop.example", "http://10.0.0.1", "http://128.0.0.1",
        "http://[2001:db8::1]",
    ])
    func `an address that resembles this machine is another`(address: String) async throws {
        #expect(try await run(["products", "--server", address], key: "till_a_b").error.contains("unencrypted"))
    }

    /// Without a key nothing is sent: the missing key is found after the address is accepted.
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
}
