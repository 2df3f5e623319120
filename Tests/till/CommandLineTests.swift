import Foundation
import GRDB
import HTTPSupport
import TestSupport
import Testing

@Suite struct CommandLineTests {
    /// The output of `till audit --json`.
    private struct AuditLog: Decodable {
        struct Record: Decodable {
            let number: Int
        }

        let isUnbroken: Bool
        let records: [Record]
    }

    @Test func `the catalog is listed by collection and language, without a data directory`() async throws {
        let till = try TillProcess(hasKeys: false)
        let listed = try await till.run("products", "--json")
        let products = try listed.decoded(List<ProductResource>.self).elements
        #expect(products.count == 11)
        #expect(products.first?.displayName == "Sturdy Sprout")
        #expect(products.first?.price == 1_200_000)
        let sprouts = try await till.run("products", "--collection", "sprout", "--locale", "ko")
        #expect(sprouts.output.split(separator: "\n").count == 5)
        #expect(sprouts.output.contains("튼튼 새싹"))
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("data").path))
    }

    @Test func `the products of an Xcode configuration are listed`() async throws {
        let till = try TillProcess(hasKeys: false)
        let product = #""displayPrice":"4.99","familyShareable":false,"localizations":[],"referenceName":"Club""#
        try Data(
            """
            {"products":[],"subscriptionGroups":[{"id":"G","name":"Club","subscriptions":[{\(product),"productID":"club.monthly",
            "type":"RecurringSubscription","groupNumber":1,"recurringSubscriptionPeriod":"P3M"}]}]}
            """.utf8
        ).write(to: till.folder.file("a.storekit"))
        let listed = try await till.run("store", "products", "--products", "a.storekit")
        #expect(listed.status == 0)
        #expect(listed.output.contains("Auto-Renewable Subscription  Club  USD 4.99 every 3 months  club.monthly"))
        let report = try await till.run("store", "products", "--products", "a.storekit", "--json").decoded(
            List<ProductResource>.self)
        #expect(report.elements.first?.subscription?.period == "P3M")
        let missing = try await till.run("store", "products", "--products", "b.storekit")
        #expect(missing.status == 1)
        #expect(missing.error.contains("b.storekit: the file is missing"))
        #expect(try await till.run("products", "--products", "a.storekit").status == 64)
    }

    @Test(arguments: [
        ["buy"], ["buy", "x"], ["buy", "x", "--user", ""], ["buy", "x", "--user", "a b"],
        ["buy", "x", "--user", "a", "--outcome", "maybe"], ["buy", "x", "--user", "a", "--kill-after", "breakfast"],
        ["store", "approve", "one"], ["products", "--collection", "hats"], ["receipt", "validate"],
        ["receipt", "validate", "x", "--environment", "Moon"],
        ["receipt", "validate", "x", "--environment", "LocalTesting"],
        ["products", "--locale", "fr"], ["nonsense"], ["products", "--nonsense"], ["owned"],
    ])
    func `wrong usage ends with status 64`(arguments: [String]) async throws {
        let till = try TillProcess(hasKeys: false)
        let result = try await till.run(arguments: arguments)
        #expect(result.status == 64)
        #expect(result.output == "")
        #expect(result.error.hasPrefix("Error: "))
    }

    @Test func `a failed command ends with status 1 and prints one sentence`() async throws {
        let till = try TillProcess()
        try await till.run("resume", "--user", "a")
        for arguments in [
            ["buy", "com.memolease.sesac1.sprout9", "--user", "a"], ["receipt", "validate", "no-such-file"],
            ["receipt", "validate", "/"], ["receipt", "redeem", "no-such-file", "--user", "a"],
            ["receipt", "export", "--user", "a", "--out", "/no/such/folder/file"],
            ["resume", "--user", "a", "--data", "/dev/null/data"],
        ] {
            let result = try await till.run(arguments: arguments)
            #expect(result.status == 1, "\(arguments)")
            #expect(result.output == "", "\(arguments)")
            #expect(result.error.hasPrefix("till: "), "\(arguments)")
            #expect(result.error.split(separator: "\n").count == 1, "\(arguments): \(result.error)")
        }
    }

    @Test func `commands on a missing store do not create it`() async throws {
        let till = try TillProcess(hasKeys: false)
        for arguments in [["store", "queue"], ["store", "approve", "1"], ["store", "decline", "1"]] {
            let result = try await till.run(arguments: arguments)
            #expect(result.status == 1)
            #expect(result.error.contains("\"\(till.folder.folder("data").path)\" has no store."))
        }
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("data").path))
    }

    @Test func `an existing data directory is not hidden from git, but its subfolders are`() async throws {
        let till = try TillProcess()
        #expect(try await till.run("resume", "--user", "a").status == 0)
        let data = till.folder.folder("data")
        #expect(!FileManager.default.fileExists(atPath: data.appending(path: ".gitignore").path))
        for part in ["store", "service"] {
            #expect(try String(contentsOf: data.appending(path: "\(part)/.gitignore"), encoding: .utf8) == "*\n")
        }
    }

    @Test func `a command fails if its output cannot be written`() async throws {
        let till = try TillProcess(hasKeys: false)
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        let result = try await till.run(arguments: ["products"], output: full)
        #expect(result.status == 1)
        #expect(result.error.contains("could not be written"))
    }

    @Test func `a receipt is written to a device, and does not replace it`() async throws {
        let till = try TillProcess()
        let link = till.folder.file("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: URL(filePath: "/dev/null"))
        try await till.run("resume", "--user", "a")
        #expect(try await till.run("receipt", "export", "--user", "a", "--out", link.path).status == 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "/dev/null")
        #expect(
            try FileManager.default.attributesOfItem(atPath: "/dev/null")[.type] as? FileAttributeType
                == .typeCharacterSpecial)
    }

    @Test func `a new data directory is private and hidden from git`() async throws {
        let till = try TillProcess(hasKeys: false)
        #expect(try await till.run("resume", "--user", "a").status == 0)
        let data = till.folder.folder("data")
        #expect(try String(contentsOf: data.appending(path: ".gitignore"), encoding: .utf8) == "*\n")
        let mode = try FileManager.default.attributesOfItem(atPath: data.path)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        for path in ["store/store.sqlite", "service/ledger.sqlite", "store/keys/transactions-leaf.pem"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: data.appending(path: path).path)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(path)")
        }
    }

    @Test func `each command prints its help`() async throws {
        let till = try TillProcess(hasKeys: false)
        for command in [
            [], ["products"], ["buy"], ["resume"], ["restore"], ["owned"], ["store", "approve"],
            ["store", "decline"], ["store", "queue"], ["store", "products"], ["store", "reset"],
            ["receipt"],
            ["trust"], ["trust", "add"], ["trust", "list"], ["trust", "remove"], ["receipt", "export"],
            ["receipt", "validate"], ["receipt", "redeem"], ["ledger", "restore"],
        ] {
            let help = try await till.run(arguments: command + ["--help"])
            #expect(help.status == 0)
            #expect(["receipt", "trust"].contains(command.joined()) || help.output.contains("till "), "\(command)")
        }
        #expect(try await till.run("--version").output.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
    }

    @Test func `a ledger is checked, backed up, exported and imported`() async throws {
        let till = try TillProcess()
        let none = try await till.run("ledger", "check")
        #expect(none.status == 1)
        #expect(try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice").status == 0)
        let checked = try await till.run("ledger", "check")
        #expect(checked.status == 0)
        #expect(checked.output.hasSuffix("sound\n"))
        let proofs = try await till.run("ledger", "check", "--proofs")
        #expect(proofs.output.hasSuffix("proofs verified 0, not kept 1\nsound\n"))
        let copy = till.folder.file("copy.sqlite").path
        #expect(try await till.run("ledger", "backup", copy).status == 0)
        let again = try await till.run("ledger", "backup", copy)
        #expect(again.status == 1)
        #expect(again.error.contains("already exists"))
        for name in ["restored/service", "damaged/service"] {
            try FileManager.default.createDirectory(at: till.folder.folder(name), withIntermediateDirectories: true)
        }
        try FileManager.default.copyItem(
            at: till.folder.file("copy.sqlite"), to: till.folder.file("restored/service/ledger.sqlite"))
        let owned = try await till.run("owned", "alice", "--data", till.folder.folder("restored").path)
        #expect(owned.output.contains("sprout"))
        try Data("no database at all, of any kind".utf8).write(to: till.folder.file("damaged/service/ledger.sqlite"))
        let exported = till.folder.file("ledger.jsonl").path
        #expect(try await till.run("ledger", "export", exported).status == 0)
        #expect(try await till.run("ledger", "import", exported).error.contains("The ledger is not empty"))
        let moved = try await till.run("ledger", "import", exported, "--data", till.folder.folder("moved").path)
        #expect(moved.status == 0)
        #expect(moved.output.contains("rows from"))
        let there = try await till.run("owned", "alice", "--data", till.folder.folder("moved").path)
        #expect(there.output.contains("sprout"))
        let missing = try await till.run("ledger", "import", "nowhere.jsonl").error
        #expect(missing.contains("nowhere.jsonl\" does not exist"))
        let damaged = try await till.run("ledger", "check", "--data", till.folder.folder("damaged").path)
        #expect(damaged.status == 1)
        #expect(damaged.error.contains("Restore a backup"))
    }

    @Test func `the audit lists a user's records, and finds one that was changed`() async throws {
        let till = try TillProcess()
        #expect(try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice").status == 0)
        let told = try await till.run("audit", "alice")
        #expect(told.status == 0)
        #expect(told.output.contains("granted"))
        #expect(told.output.contains("com.memolease.sesac1.sprout1"))
        #expect(told.output.contains("unbroken; head 1 "))
        let log = try await till.run("audit", "alice", "--json").decoded(AuditLog.self)
        #expect(log.isUnbroken)
        #expect(log.records.count == 1)
        #expect(try await till.run("audit", "bob").output == "No audit entries for user \"bob\".\n")
        #expect(
            try await till.run("audit", "alice", "--issuer", "https://elsewhere.example").output.hasPrefix(
                "No audit entries"))
        try await DatabaseQueue(path: till.folder.file("data/service/ledger.sqlite").path).write {
            try $0.execute(sql: "DROP TRIGGER audit_is_not_rewritten; UPDATE audit SET reference = '1'")
        }
        let broken = try await till.run("audit", "alice")
        #expect(broken.status == 1)
        #expect(broken.output.contains("broken: record 1"))
    }

    @Test(arguments: [
        ["keys", "list"], ["ledger", "check"], ["ledger", "export", "export.jsonl"],
        ["buy", "com.memolease.sesac1.sprout1", "--user", "alice"],
    ])
    func `a command refuses a ledger of another version, and says what to do`(command: [String]) async throws {
        let till = try TillProcess()
        #expect(try await till.run("keys", "make", "shop").status == 0)
        let file = till.folder.file("data/service/ledger.sqlite")
        let database = try DatabaseQueue(path: file.path)
        try await database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 0") }
        try database.close()
        let before = try Data(contentsOf: file)
        let refused = try await till.run(arguments: command)
        #expect(refused.status == 1)
        #expect(
            refused.error.contains(
                "was written by another version of Till. Use that version, or a new data directory or database."))
        #expect(try Data(contentsOf: file) == before)
    }
}
