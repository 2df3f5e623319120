import Foundation
import TestSupport
import Testing

/// Commands that are given a pipe, a folder, a device or an empty file in place of a file.
@Suite(.timeLimit(.minutes(2))) struct NamedFileTests {
    private let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    /// Makes the places that are no proper files. Nobody writes to the pipe.
    private func makePlaces() throws {
        #expect(mkfifo(till.folder.file("pipe").path, 0o600) == 0)
        try FileManager.default.createDirectory(
            at: till.folder.folder("folder"), withIntermediateDirectories: true)
        try Data().write(to: till.folder.file("empty"))
        try Data("no database, of any kind".utf8).write(to: till.folder.file("text"))
    }

    @Test(arguments: [
        ("pipe", "cannot be read"), ("folder", "cannot be read"), ("/dev/zero", "cannot be read"),
        ("/dev/stdin", "cannot be read"), ("nowhere", "does not exist"), ("empty", "is not a ledger"),
        ("text", "is not a ledger"),
    ])
    func `a backup that is no ledger is refused, and the ledger stays`(name: String, reason: String) async throws {
        try makePlaces()
        let none = try await till.run("ledger", "restore", name, "--json")
        #expect(none.status == 1)
        #expect(try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice").status == 0)
        let service = till.folder.folder("data/service")
        let process = try till.process(arguments: ["ledger", "restore", name])
        // A pipe whose writer is open and silent.
        let (input, errors) = (Pipe(), Pipe())
        (process.standardInput, process.standardError) = (input, errors)
        process.standardOutput = FileHandle.nullDevice
        try process.launchAlone()
        let error = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try input.fileHandleForWriting.close()
        #expect(process.terminationStatus == 1)
        #expect(error.contains(reason), "\(error)")
        #expect(try await till.run("ledger", "check").output.hasSuffix("sound\n"))
        // Neither a copy of the backup nor another ledger is left.
        let files = try FileManager.default.contentsOfDirectory(atPath: service.path)
        #expect(!files.contains { $0.contains("restor") }, "\(files)")
    }

    @Test(arguments: [
        ["receipt", "validate", "PLACE"], ["receipt", "redeem", "PLACE", "--user", "alice"],
        ["import", "revenuecat", "PLACE"], ["ledger", "import", "PLACE", "--data", "new"],
        ["trust", "add", "PLACE"], ["trust", "add", "PLACE", "--package", "com.example.garden"],
        ["serve", "--port", "0", "--config", "PLACE"],
        ["serve", "--port", "0", "--tls-certificate", "PLACE", "--tls-key", "PLACE"],
        ["owned", "alice", "--server", "https://127.0.0.1:1", "--ca-file", "PLACE"],
        ["reconcile", "--google-service-account", "PLACE", "--accept", "google/Production"],
        ["store", "products", "--products", "PLACE"],
    ])
    func `a command that reads a file ends with an error if there is none to read`(arguments: [String]) async throws {
        try makePlaces()
        for place in ["pipe", "folder", "empty", "nowhere"] {
            let result = try await till.run(
                arguments: arguments.map { $0 == "PLACE" ? place : $0 }, environment: ["TILL_API_KEY": "key"])
            #expect(result.status != 0, "\(place)")
            #expect(result.signal == nil, "\(place)")
            #expect(!result.error.isEmpty, "\(place)")
        }
    }
}
