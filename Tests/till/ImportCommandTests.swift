import Foundation
import HTTPSupport
import Proofs
import Service
import TestSupport
import Testing

/// The import of a scheduled data export, with the real binary.
@Suite struct ImportCommandTests {
    private static let columns = [
        "rc_original_app_user_id", "rc_last_seen_app_user_id_alias", "product_identifier", "start_time", "end_time",
        "store", "is_sandbox", "original_store_transaction_id", "refunded_at", "entitlement_identifiers",
        "custom_subscriber_attributes", "offer",
    ]

    /// Writes an export.
    ///
    /// - Parameter rows: The values that differ from those of a purchase of sprout1 in the sandbox.
    static func writeExport(_ rows: [[String: String]], to file: URL) throws {
        let standard = [
            "rc_original_app_user_id": "mint", "product_identifier": "com.memolease.sesac1.sprout1",
            "start_time": "2026-01-31 12:00:00", "store": "app_store", "is_sandbox": "true",
            "original_store_transaction_id": "1",
        ]
        let lines = rows.map { row in
            let values = standard.merging(row) { $1 }
            return columns.map { "\"" + (values[$0] ?? "").replacing("\"", with: "\"\"") + "\"" }.joined(separator: ",")
        }
        let text = ([columns.joined(separator: ",")] + lines).joined(separator: "\r\n") + "\r\n"
        try Data(text.utf8).write(to: file)
    }

    private struct Report: Decodable {
        let rows: Int
        let isDryRun: Bool
        let customers: Int
        let newCustomers: Int
        let attributes: Int
        let expectedPurchases: Int
        let confirmedPurchases: Int
        let notImported: [String: Int]
        let invalidCount: Int
        let invalidLines: [Line]

        struct Line: Decodable {
            let line: Int
            let reason: String
        }
    }

    private let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    private func write(_ rows: [[String: String]]) throws {
        try Self.writeExport(rows, to: till.folder.file("transactions.csv"))
    }

    private func run(_ more: String...) async throws -> TillProcess.Result {
        try await till.run(
            arguments: ["import", "revenuecat", "transactions.csv", "--accept", "local/Sandbox"] + more)
    }

    /// A thousand rows of 299 customers; each tenth row is of another store, and each hundredth is invalid.
    private static let thousand = (0..<1000).map { number in
        var row = [
            "rc_original_app_user_id": "c\(number % 299)", "original_store_transaction_id": "\(number)",
            "custom_subscriber_attributes": #"{"level": "\#(number / 300)"}"#,
        ]
        if number % 10 == 5 { row["store"] = "play_store" }
        if number % 100 == 50 { row["start_time"] = "never" }
        return row
    }

    @Test func `a thousand rows are imported once, and the invalid ones are listed by their lines`() async throws {
        try write(Self.thousand)
        let dry = try await run("--dry-run", "--json")
        let planned = try dry.decoded(Report.self)
        #expect(dry.status == 1 && planned.isDryRun)
        #expect(planned.rows == 1000 && planned.customers == 299 && planned.newCustomers == 299)
        #expect(planned.expectedPurchases == 890 && planned.notImported == ["store_play_store": 100])
        #expect(planned.invalidCount == 10)
        #expect(planned.invalidLines.map(\.line) == (0..<10).map { 100 * $0 + 52 })
        #expect(planned.invalidLines.allSatisfy { $0.reason == "start_time is not a time in UTC" })
        #expect(try await checked().users == 0)

        let first = try await run("--json").decoded(Report.self)
        #expect(first.newCustomers == 299 && first.expectedPurchases == 890 && first.attributes == 299)
        #expect(try await till.run("ledger", "export", "first.jsonl").status == 0)
        let second = try await run("--json").decoded(Report.self)
        #expect(second.newCustomers == 0 && second.expectedPurchases == 890 && second.customers == 299)
        #expect(try await till.run("ledger", "export", "second.jsonl").status == 0)
        let files = try ["first.jsonl", "second.jsonl"].map { try Data(contentsOf: till.folder.file($0)) }
        #expect(files[0] == files[1])
        let ledger = try await checked()
        #expect(ledger.users == 299 && ledger.redeemedTransactions == 0 && ledger.problems == [])
    }

    private func checked() async throws -> CheckedLedger {
        try await till.run("ledger", "check", "--json").decoded()
    }

    @Test func `a purchase that the app proves goes to the imported customer`() async throws {
        let bought = try await till.run(
            "buy", "com.memolease.sesac1.sprout1", "--user", "alice", "--kill-after", "purchased")
        #expect(bought.signal == SIGKILL)
        let queue = try await till.run("store", "queue", "--json").output
        let transaction = String(try #require(queue.firstMatch(of: /"transactionId" : "(\d+)"/)).1)
        try write([["original_store_transaction_id": transaction]])
        let imported = try await run()
        #expect(imported.status == 0, "\(imported.error)")
        #expect(imported.output.contains("purchases expected   1\n"), "\(imported.output)")
        #expect(imported.output.contains("The expected purchases grant nothing yet."))
        let why = try await till.run("why", "mint", "sprout", "1", "--issuer", "customer").output
        #expect(why.contains("An import expects a purchase of com.memolease.sesac1.sprout1 from 2026-01-31"), "\(why)")
        let given = try await till.run("give", "mint", "sprout", "2", "--issuer", "customer", "--reason", "A present")
        #expect(given.status == 0, "\(given.error)")
        let story = try await till.run("story", "mint", "--issuer", "customer", "--json").decoded(
            List<StoryEntryResource>.self)
        #expect(story.elements.first?.kind == "itemGiven")
        #expect(try await till.run("story", "mint").output.contains("No entries"))
        // Another user presents the purchase. The service keeps it for the customer.
        try await till.run("resume", "--user", "alice")
        #expect(try await !till.run("owned", "alice").output.contains("sprout 1"))
        let again = try await run("--json").decoded(Report.self)
        #expect(again.confirmedPurchases == 1 && again.expectedPurchases == 0)
    }

    @Test func `an expected purchase of the App Store is explained in a process that accepts it`() async throws {
        try write([["is_sandbox": "false", "original_store_transaction_id": "77"]])
        let imported = try await till.run(
            "import", "revenuecat", "transactions.csv", "--accept", "apple/Production")
        #expect(imported.output.contains("purchases expected   1\n"), "\(imported.error)")
        let question = ["why", "mint", "sprout", "1", "--issuer", "customer"]
        let accepted = try await till.run(arguments: question + ["--accept", "apple/Production"])
        #expect(accepted.output.contains("An import expects a purchase"), "\(accepted.error)")
        // No service has run, so the accepted origins are unknown.
        #expect(try await till.run(arguments: question + ["--json"]).code == "configurationUnknown")
    }

    @Test func `a file that is no export imports nothing`() async throws {
        for (bytes, code) in [
            ([0x1F, 0x8B, 8, 0], "fileCompressed"), (Array("a,b\n1,2\n".utf8), "exportHeaderInvalid"),
            (Array("a,\"b\n".utf8), "exportSyntaxInvalid"), ([], "exportHeaderInvalid"),
        ] as [([UInt8], String)] {
            try Data(bytes).write(to: till.folder.file("transactions.csv"))
            let result = try await run("--json")
            #expect(result.status == 1 && result.code == code, "\(result.output)")
        }
        let missing = try await till.run("import", "revenuecat", "nowhere.csv", "--json", "--data", "new")
        #expect(missing.status == 1 && missing.code == "fileUnreadable")
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("new").path))
    }

    @Test func `purchases of Xcode are wrong usage`() async throws {
        try write([])
        #expect(try await run("--accept", "xcode").status == 64)
    }
}
