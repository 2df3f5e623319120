import Foundation
import TestSupport
import Testing

/// Commands over a ledger answer by what the service was configured with.
@Suite struct KnownConfigurationTests {
    private static let sprout = "com.memolease.sesac1.sprout1"

    private let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    /// Runs a service until it listens.
    private func serve(_ arguments: String...) async throws {
        let server = try await ServeProcess(till, arguments)
        #expect(await server.end(SIGTERM) == 0)
    }

    @Test func `a command counts the purchases of the origins and users that the service accepts`() async throws {
        for user in ["alice", "review"] {
            #expect(try await till.run("buy", Self.sprout, "--user", user).status == 0)
        }
        // A local store without a service counts as itself.
        #expect(try await till.run("owned", "alice").output.contains("Sturdy Sprout"))
        try await serve("--accept", "local/Production", "--sandbox-users", "review")
        #expect(try await !till.run("owned", "alice").output.contains("Sturdy Sprout"))
        #expect(try await till.run("owned", "review").output.contains("Sturdy Sprout"))
        let why = try await till.run("why", "alice", "sprout", "1")
        #expect(why.output.contains("local/Sandbox, which is not accepted for this user"), "\(why)")
        #expect(try await till.run("why", "review", "sprout", "1").output.hasPrefix("review has sprout 1."))
        // The option of a command overrides it.
        let accepted = try await till.run("why", "alice", "sprout", "1", "--accept", "local/Sandbox")
        #expect(accepted.output.hasPrefix("alice has sprout 1."), "\(accepted)")
        // A command that plays a service replaces no service's configuration.
        #expect(try await till.run("resume", "--user", "alice").status == 0)
        #expect(try await !till.run("owned", "alice").output.contains("Sturdy Sprout"))
    }

    @Test func `a command answers by the catalog of the service, and says so if it cannot`() async throws {
        let garden = try TestGarden()
        let catalog = garden.folder.folder("catalog")
        try await serve("--catalog", catalog.path)
        let why = try await till.run("why", "alice", "gate", "1")
        #expect(why.output.contains("The service knows no purchase of garden.gate by the user."), "\(why)")
        #expect(why.error == "")
        let other = try await till.run("why", "alice", "gate", "1", "--catalog", Project.products.path)
        #expect(other.output.contains("No product of the catalog grants the item."))
        let moved = garden.folder.folder("moved")
        try FileManager.default.moveItem(at: catalog, to: moved)
        let lost = try await till.run("why", "alice", "gate", "1", "--json")
        #expect(lost.status == 1 && lost.code == "catalogUnavailable")
        #expect(lost.error.contains("\"\(catalog.path)\"") && lost.error.contains("Name the catalog with --catalog."))
        #expect(try await !till.run("attributes", "list", "alice").error.contains("--catalog"))
        let named = try await till.run("why", "alice", "gate", "1", "--catalog", moved.path)
        #expect(named.output.contains("The service knows no purchase of garden.gate by the user."))
    }

    @Test func `without a service before, an explanation is refused, and an answer says what it assumes`() async throws
    {
        #expect(try await till.run("keys", "make", "shop").status == 0)
        let why = try await till.run("why", "alice", "sprout", "1", "--json")
        #expect(why.status == 1 && why.code == "configurationUnknown")
        #expect(
            why.error.contains(
                "No service has run over this ledger, so its catalog and accepted origins cannot be known. Set --catalog "
                    + "and --accept."), "\(why.error)")
        let owned = try await till.run("owned", "alice")
        #expect(
            owned.error.contains(
                " This answer assumes the catalog that comes with Till and purchases of local stores.\n"), "\(owned)")
        let named = try await till.run(
            "why", "alice", "sprout", "1", "--accept", "local/Sandbox", "--catalog", Project.products.path)
        // She has no sprout 1.
        #expect(named.status == 1 && named.error == "", "\(named)")
        // What no catalog changes needs no note.
        #expect(try await !till.run("attributes", "list", "alice").error.contains("--catalog"))
        let missing = try await till.run("products", "--catalog", "nowhere")
        #expect(missing.error.contains("Name the folder of your catalog with --catalog"), "\(missing)")
    }

    @Test func `a new webhook that no service sends to is told`() async throws {
        #expect(try await till.run("keys", "make", "shop").status == 0)
        func note() async throws -> String {
            let added = try await till.run(
                arguments: ["webhooks", "add", "http://127.0.0.1:9/"],
                environment: ["TILL_WEBHOOK_PRIVATE_ADDRESSES": "true"])
            #expect(added.status == 0, "\(added.error)")
            return added.error
        }
        #expect(try await note().contains("No service has run over this ledger, so nothing is sent."))
        try await serve()
        #expect(try await note().contains("The service that ran last sends nothing to webhooks."))
        try await serve("--webhooks")
        #expect(try await note() == "")
    }
}
