import Foundation
import HTTPSupport
import TestSupport
import Testing

/// `till status`, and the other commands about the installation.
@Suite struct StatusTests {
    /// A row of `till status --json`.
    private struct Part: Decodable, Listed {
        static let listName = "servers"

        let kind: String
        let url: URL?
        let port: Int?
        let process: Int32?
        let startedAt: String?
        let now: String
    }

    private let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    private func parts() async throws -> [Part] {
        let status = try await till.run("status", "--json")
        #expect(status.status == 0 && status.error == "", "\(status)")
        return try status.decoded(List<Part>.self).elements
    }

    @Test func `nothing is listed of a directory that is not there, and nothing is made`() async throws {
        let status = try await till.run("status", "--data", "elsewhere")
        #expect(status.output.contains("elsewhere\nNothing runs here. `till serve` starts a service"), "\(status)")
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("elsewhere").path))
    }

    @Test func `the service and both local stores are listed with their ports and clocks`() async throws {
        #expect(try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice").status == 0)
        let idle = try await parts()
        #expect(idle.map(\.kind) == ["appStore"] && idle[0].url == nil)
        #expect(try await till.run("store", "time", "--advance", "3d").status == 0)

        let service = try await ServeProcess(till, ["--store", "--play", "--play-port", "0"])
        let running = try await parts()
        #expect(running.map(\.kind) == ["service", "appStore", "googlePlay"])
        #expect(running.map(\.process) == Array(repeating: service.processIdentifier, count: 3))
        #expect(running.map(\.url)[...1] == [service.url, service.url])
        #expect(running[0].port == service.url.port && ![nil, service.url.port].contains(running[2].port))
        // The service follows the later clock of its stores.
        for part in running[..<2] { #expect(part.now > (part.startedAt ?? "")) }
        let table = try await till.run("status").output
        #expect(table.contains("SERVER ") && table.contains("App Store    \(service.url.absoluteString)"), "\(table)")
        #expect(await service.end(SIGTERM) == 0)
        #expect(try await parts().allSatisfy { $0.url == nil && $0.kind != "service" })
    }

    @Test func `a killed store is no more listed as running`() async throws {
        let store = try await ServeProcess(till, command: "store")
        #expect(try await parts().first?.url == store.url)
        #expect(await store.end(SIGKILL) == -SIGKILL)
        let part = try #require(try await parts().first)
        #expect(part.kind == "appStore" && part.url == nil && part.process == nil)
    }

    @Test func `the version is printed by the command and the option`() async throws {
        let version = try await till.run("version")
        #expect(version.output == (try await till.run("--version")).output)
        let json = try await till.run("version", "--json").json()
        #expect(json["version"]?.text.map { $0 + "\n" } == version.output)
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `a script completes the commands in each shell`(shell: String) async throws {
        let script = try await till.run("completion", shell)
        #expect(script.status == 0 && script.output.contains("completion") && script.output.contains("unclaimed"))
        #expect(script.output == (try await till.run("--generate-completion-script", shell)).output)
    }

    @Test func `the commands are listed in groups`() async throws {
        let help = try await till.run("--help").output
        let headings = help.split(separator: "\n").filter { $0.hasSuffix(" SUBCOMMANDS:") }
        #expect(
            headings == [
                "BUY AND TEST SUBCOMMANDS:", "SERVE SUBCOMMANDS:", "SUPPORT SUBCOMMANDS:", "CATALOG SUBCOMMANDS:",
                "FIGURES SUBCOMMANDS:", "LEDGER SUBCOMMANDS:", "ADMINISTRATION SUBCOMMANDS:",
            ])
    }
}
