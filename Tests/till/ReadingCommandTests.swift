import Foundation
import TestSupport
import Testing

/// Commands that read the data of an earlier command, without such data.
@Suite struct ReadingCommandTests {
    @Test(arguments: [
        ["owned", "alice"], ["customers", "alice"], ["unclaimed"], ["audit", "alice"], ["figures", "units"],
        ["keys", "list"], ["products", "compare"],
        ["refunds"], ["refusals"], ["customers", "list"], ["transaction", "1"], ["notifications"],
        ["console", "actions"], ["products", "history"], ["webhooks"],
        ["grants", "list", "alice"], ["attributes", "list", "alice"],
        ["export-user", "alice"], ["erase-user", "alice", "--confirm", "alice"],
        ["keys", "revoke", "5e5ac1a1b2c3"],
        ["ledger", "check"], ["ledger", "backup", "copy.sqlite"], ["ledger", "export", "copy.jsonl"],
        ["ledger", "distribute"],
        ["export", "events", "events.csv"],
    ])
    func `a command that reads the ledger creates none, and names the directory`(arguments: [String]) async throws {
        let till = try TillProcess(hasKeys: false)
        let result = try await till.run(arguments: arguments + ["--data", "TYPO"])
        #expect(result.status == 1)
        #expect(result.output == "")
        #expect(
            result.error.hasSuffix(
                "TYPO\" has no ledger. Name the data directory with --data, or buy something first with till buy.\n"))
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("TYPO").path))
    }

    @Test(arguments: [
        ["store", "queue"], ["store", "approve", "1"], ["store", "decline", "1"],
        ["receipt", "export", "--user", "alice"],
        ["store", "sales", "alice"], ["store", "notifications"], ["store", "time"], ["store", "settings"],
        ["store", "judge", "a.b.c"], ["store", "delete", "1"], ["store", "family", "alice"],
    ])
    func `a command that reads the store creates none, and names the directory`(arguments: [String]) async throws {
        let till = try TillProcess(hasKeys: false)
        let result = try await till.run(arguments: arguments + ["--data", "TYPO"])
        #expect(result.status == 1)
        #expect(result.output == "")
        #expect(
            result.error.hasSuffix(
                "TYPO\" has no store. Name the data directory with --data, or buy something first with till buy.\n"))
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("TYPO").path))
        // The command does not complete a directory with other files either.
        try FileManager.default.createDirectory(
            at: till.folder.folder("data/store"), withIntermediateDirectories: true)
        #expect(try await till.run(arguments: arguments).status == 1)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: till.folder.folder("data").path) == ["store"])
    }

    @Test(arguments: [
        ["purchases"], ["products"], ["complete", "1"], ["cancel", "1"], ["refund", "1"], ["dispute"], ["time"],
        ["reset"],
    ])
    func `a command that reads the local Google Play creates none, and names the directory`(
        arguments: [String]
    ) async throws {
        let till = try TillProcess(hasKeys: false)
        let result = try await till.run(arguments: ["play"] + arguments + ["--data", "TYPO"])
        #expect(result.status == 1)
        #expect(result.output == "")
        #expect(
            result.error.hasSuffix(
                "TYPO\" has no local Google Play. Name the data directory with --data, or start one first with till play.\n"
            ))
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("TYPO").path))
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
