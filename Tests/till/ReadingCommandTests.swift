import Foundation
import TestSupport
import Testing

/// Commands that read the data of an earlier command, without such data.
@Suite struct ReadingCommandTests {
    /// The commands whose first example does not begin with such data.
    private static let others: Set = [
        // They make what they need.
        "buy", "resume", "restore", "demo", "serve", "keys make", "trust add", "console add-user", "store serve",
        "store keys", "store buy", "play serve", "play keys", "play license", "play buy", "play subscribe",
        // They read the file of the example first.
        "receipt validate", "receipt redeem", "init", "products change", "products picture", "import revenuecat",
        "ledger restore", "ledger import", "external-purchases report", "external-transactions report",
        // They print without data what there is, or what is missing.
        "status", "doctor", "version", "completion", "products list", "store products", "trust list", "figures show",
        // The example names a running service.
        "mcp",
        // It names the missing folder of certificates.
        "trust remove",
        // It names the service that must allow it, and the example a data directory.
        "ledger reset",
        // The example names a database.
        "ledger distribute",
    ]

    private enum Place: String {
        case ledger
        case store
        case play = "local Google Play"

        init(_ path: [String]) {
            switch path.first {
            case "store", "receipt": self = .store
            case "play": self = .play
            default: self = .ledger
            }
        }

        /// The end of a message about a directory.
        var missing: String {
            let remedy = self == .play ? "start one first with till play" : "buy something first with till buy"
            return "TYPO\" has no \(rawValue). Name the data directory with --data, or \(remedy).\n"
        }
    }

    @Test func `a command that reads data creates none, and names the directory`() async throws {
        let till = try TillProcess(hasKeys: false)
        // Further forms of commands.
        var calls: [(Place, [String])] = [
            (.ledger, ["figures", "units"]), (.ledger, ["ledger", "distribute"]),
            (.ledger, ["export", "events", "events.csv"]),
        ]
        let commands = try await HelpCommand.all(of: till).filter { !$0.command.isGroup }.map {
            (path: Array($0.path.dropFirst()), arguments: $0.command.exampleArguments)
        }
        #expect(Self.others.subtracting(commands.map { $0.path.joined(separator: " ") }) == [])
        for (path, arguments) in commands where !Self.others.contains(path.joined(separator: " ")) {
            calls.append((Place(path), arguments.filter { $0 != "--json" }))
        }
        #expect(calls.count > 60)
        for (place, arguments) in calls {
            let result = try await till.run(arguments: arguments + ["--data", "TYPO"])
            #expect(result.status == 1, "\(arguments)")
            #expect(result.output == "", "\(arguments)")
            #expect(result.error.hasSuffix(place.missing), "\(arguments): \(result.error)")
            #expect(!FileManager.default.fileExists(atPath: till.folder.folder("TYPO").path), "\(arguments)")
        }
        // The commands do not complete a directory with other files either.
        try FileManager.default.createDirectory(
            at: till.folder.folder("data/store"), withIntermediateDirectories: true)
        for (_, arguments) in calls.filter({ $0.0 == .store }) {
            #expect(try await till.run(arguments: arguments).status == 1, "\(arguments)")
            let paths = try FileManager.default.subpathsOfDirectory(atPath: till.folder.folder("data").path)
            #expect(paths == ["store"], "\(arguments)")
        }
    }

    @Test func `a ledger in a file is not distributed`() async throws {
        let till = try TillProcess()
        try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice")
        let result = try await till.run("ledger", "distribute")
        #expect(result.status == 1)
        #expect(result.error.contains("A ledger in a file is on one machine. Move it to PostgreSQL first"))
    }

    @Test func `a certificate is not removed from a directory that trusts none`() async throws {
        let till = try TillProcess(hasKeys: false)
        let result = try await till.run("trust", "remove", "63343abf", "--data", "TYPO")
        #expect(result.status == 1)
        #expect(result.error.contains("TYPO\" has no folder of trusted certificates."))
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("TYPO").path))
    }

    @Test func `what a user owns is read without a store`() async throws {
        let till = try TillProcess()
        try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice")
        let service = till.folder.folder("alone/service")
        try FileManager.default.createDirectory(at: service, withIntermediateDirectories: true)
        try await till.run(
            "ledger", "backup", service.appending(path: "ledger.sqlite", directoryHint: .notDirectory).path)
        let owned = try await till.run("owned", "alice", "--data", "alone")
        #expect(owned.status == 0)
        #expect(owned.output.contains("Sturdy Sprout"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: till.folder.folder("alone").path) == ["service"])
    }

    @Test func `commands that list nothing need no data directory`() async throws {
        let till = try TillProcess(hasKeys: false)
        for arguments in [["products"], ["trust", "list"]] {
            #expect(try await till.run(arguments: arguments + ["--data", "TYPO"]).status == 0)
        }
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("TYPO").path))
    }
}
