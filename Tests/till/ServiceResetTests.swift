import AppStore
import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing

/// The reset of a service between two tests of a suite, in the real binary.
@Suite struct ServiceResetTests {
    private static let sandboxKey = "the-sandbox-key-of-the-tests"
    private static let product = "com.memolease.sesac1.sprout1"

    private let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    private func buy(for user: String, at service: ServeProcess, key: String) async throws -> TillProcess.Result {
        try await till.run(
            arguments: ["buy", Self.product, "--user", user, "--server", service.url.absoluteString],
            environment: ["TILL_API_KEY": key])
    }

    private func items(of user: String, at service: ServeProcess, key: String) async throws -> [String] {
        try await service.curl("/v1/users/\(user)/items", key: key).decoded(List<OwnedItemResource>.self).elements
            .map(\.item.description)
    }

    private struct Report: Decodable {
        let users: Int
    }

    @Test func `the route and the command delete what a suite has bought, and the service goes on`() async throws {
        let key = try await till.makeKey()
        let service = try await ServeProcess(
            till, ["--store", "--allow-reset", "--sandbox-key", Self.sandboxKey, "--figures", "--webhooks"])
        func reset(_ key: String?) async throws -> ServeProcess.Answer {
            try await service.curl("/sandbox/v1/service/reset", key: key, options: ["--request", "POST"])
        }
        for user in ["alice", "bob"] {
            let bought = try await buy(for: user, at: service, key: key)
            #expect(bought.status == 0, "\(bought.error)")
        }
        // The third answer about a user comes from memory.
        for _ in 0..<3 { #expect(try await items(of: "alice", at: service, key: key).contains("sprout 1")) }
        #expect(try await reset(nil).status == 401)
        #expect(try await reset(key).status == 401)
        let answer = try await reset(Self.sandboxKey)
        #expect(answer.status == 200)
        #expect(try answer.decoded(Report.self).users == 2)
        let lines = try service.log.split(separator: "\n").filter { $0.contains("reset the ledger") }
        #expect(lines.count == 1)
        #expect(lines.allSatisfy { $0.contains("users=2") && !$0.contains("alice") }, "\(lines)")
        #expect(try await !items(of: "alice", at: service, key: key).contains("sprout 1"))

        // Another process resets the ledger, while the service runs.
        for _ in 0..<2 {
            let restored = try await till.run(
                arguments: ["restore", "--user", "alice", "--server", service.url.absoluteString],
                environment: ["TILL_API_KEY": key])
            #expect(restored.status == 0, "\(restored.error)")
            for _ in 0..<3 { #expect(try await items(of: "alice", at: service, key: key).contains("sprout 1")) }
            let reset = try await till.run("ledger", "reset", "--json")
            #expect(reset.status == 0, "\(reset.error)")
            #expect(try reset.decoded(Report.self).users == 1)
            #expect(try await !items(of: "alice", at: service, key: key).contains("sprout 1"))
        }
        #expect(try await till.run("ledger", "check").status == 0)
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func `a service that was not started for it has no reset`() async throws {
        let key = try await till.makeKey()
        let service = try await ServeProcess(till, ["--store", "--sandbox-key", Self.sandboxKey])
        #expect(try await buy(for: "alice", at: service, key: key).status == 0)
        let answer = try await service.curl(
            "/sandbox/v1/service/reset", key: Self.sandboxKey, options: ["--request", "POST"])
        #expect(answer.status == 404)
        let reset = try await till.run("ledger", "reset")
        #expect(reset.status == 1)
        #expect(reset.error.contains("--allow-reset"), "\(reset.error)")
        #expect(try await items(of: "alice", at: service, key: key).contains("sprout 1"))
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func `no suite gets the ledger of a service with customers`() async throws {
        let file = till.folder.file("play-key.txt")
        try Data(try PrivateKey.generateRSA().publicKey.informationText().utf8).write(to: file)
        #expect(try await till.run("trust", "add", file.path, "--package", "com.example.garden").status == 0)
        let production = try await ServeProcess(till, ["--accept", "google/Production"])
        #expect(await production.end(SIGTERM) == 0)
        let suite = ["--accept", "xcode", "--allow-reset", "--sandbox-key", Self.sandboxKey]
        for options in [suite, ["--accept", "xcode"], suite] {
            do {
                let service = try await ServeProcess(till, options)
                #expect(options != suite)
                #expect(await service.end(SIGTERM) == 0)
            } catch let failure as ServeProcess.NotListening {
                #expect(options == suite)
                #expect(failure.description.contains("a store with customers"), "\(failure)")
            }
            let reset = try await till.run("ledger", "reset")
            #expect(reset.status == 1)
            #expect(reset.error.contains("a store with customers"), "\(reset.error)")
        }
    }
}
