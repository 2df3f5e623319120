import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing
import till

/// The examples in the help of every command.
@Suite struct HelpTests {
    /// Beginnings of examples that need another machine, with the reason.
    private static let notRun = [
        "till reconcile --app-store-key": "needs a key of App Store Connect",
        "till reconcile --google-service-account": "needs a service account of Google Cloud",
        "till store": "StoreCommandTests plays a store",
        "till play": "PlayCommandTests plays a Google Play",
        "till ledger distribute": "needs Citus (make test-citus)",
        "till ledger reset": "needs a service that allows it (ServiceResetTests)",
        "till demo": "the browser tests play it (Tests/Browser)",
        "till serve --accept apple/Production": "needs Apple's root",
        "till actions request": "needs a store with a key (ServePlayTests)",
        "till actions show": "needs an action (ServePlayTests)",
        "till actions approve": "needs an action of another person (ServePlayTests)",
        "till actions decline": "needs an action (ServePlayTests)",
        "till advanced-commerce": "needs a store with a key (ServeAppStoreTests)",
        "till external-purchases report ": "needs a token of a store (ServeAppStoreTests)",
        "till external-transactions report": "needs a service account of Google Cloud (ExternalTransactionTests)",
        "till external-transactions refund": "needs a service account of Google Cloud (ExternalTransactionTests)",
    ]

    /// The exit status of examples that show a failure or a crash.
    private static let statuses: [String: Int32] = [
        "till buy com.memolease.sesac1.background2 --user alice --outcome cancelled": 1,
        // The example kills its process with SIGKILL.
        "till buy com.memolease.sesac1.sprout2 --user alice --kill-after purchased": 137,
        // Alice has redeemed it.
        "till unclaimed assign 2000000000000001 alice --reason \"Invoice 7\"": 1,
        // The receiver of the example does not exist.
        "till webhooks test wh_4c2f8c6e": 1,
        // The sample catalog has no balances.
        "till add alice seeds 100 --reason \"Sorry for the outage\"": 1,
        // Mint has another item.
        "till why mint sprout 1 --issuer customer": 1,
        // Nothing was refunded, so grep finds nothing.
        "till export events --format jsonl | grep refunded": 1,
        // The transaction of the test is not Apple's.
        "till receipt validate transaction.jws --trust apple-roots --environment Production": 1,
    ]

    private let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    @Test func `every command has an example, and no line of one is wrapped`() async throws {
        let commands = try await HelpCommand.all(of: till)
        #expect(commands.count > 30)
        for (path, command) in commands {
            let name = path.joined(separator: " ")
            #expect(command.isGroup || !command.exampleLines.isEmpty, "\(name)")
            // Without a terminal, help has 80 columns.
            let help = try await till.run(arguments: path.dropFirst() + ["--help"]).output.split(separator: "\n")
            for line in command.exampleLines { #expect(help.contains(line[...]), "\(name): \(line)") }
        }
    }

    @Test func `an option has one meaning in all commands`() async throws {
        // A setting has the words of its table.
        let ofSettings = [["till", "serve"], ["till", "doctor"]]
        var table: [String: [String: [String]]] = [:]
        for (path, command) in try await HelpCommand.all(of: till) where !ofSettings.contains(path) {
            for (option, meaning) in command.meanings {
                table[option, default: [:]][meaning, default: []].append(path.joined(separator: " "))
            }
        }
        #expect(table.count > 120)
        for (option, meanings) in table { #expect(meanings.count == 1, "--\(option): \(meanings)") }
        for meaning in table.values.flatMap(\.keys) { #expect(!meaning.isEmpty) }
        // Another word for one of these is accepted at most.
        let others = ["app", "expires", "package-name", "key", "key-id", "issuer-id", "output"]
        #expect(others.filter { table[$0] != nil } == [])
    }

    @Test func `a user is named in the position or as --user, and a file that is made as --out, too`() async throws {
        let sprout = "com.memolease.sesac1.sprout1"
        for arguments in [["buy", sprout, "alice"], ["resume", "--user=alice"], ["restore", "alice"]] {
            let result = try await till.run(arguments: arguments)
            #expect(result.status == 0 && result.output.contains("alice owns:"), "\(arguments): \(result)")
        }
        for arguments in [
            ["owned", "--user", "alice"], ["why", "--user", "alice", "sprout", "1"],
            ["why", "sprout", "1", "--user=alice"],
            ["give", "--reason", "x", "--user", "alice", "sprout", "3"], ["story", "--limit", "5", "--user", "alice"],
            ["receipt", "export", "alice", "--out", "alice.receipt"], ["receipt", "redeem", "alice.receipt", "alice"],
            ["receipt", "redeem", "--user", "alice", "alice.receipt"], ["audit", "--user", "alice"],
            ["ledger", "backup", "--out", "backup.sqlite"], ["ledger", "export", "--out=ledger.jsonl"],
            ["export", "transactions", "--out", "sales.csv", "--format", "csv"],
            // Accepted words that the help does not show.
            ["keys", "make", "--public", "--app", "com.example.garden"],
            ["buy", "com.memolease.sesac1.sprout2", "--user", "alice", "--store", "appStore"],
        ] {
            let result = try await till.run(arguments: arguments)
            #expect(result.status == 0, "\(arguments): \(result)")
        }
        for file in ["alice.receipt", "backup.sqlite", "ledger.jsonl", "sales.csv"] {
            #expect(FileManager.default.fileExists(atPath: till.folder.file(file).path), "\(file)")
        }
        let both = try await till.run("owned", "alice", "--user", "bob")
        #expect(both.status == 64 && both.error.contains("Unexpected argument 'alice'."), "\(both.error)")
    }

    @Test func `the help of serve has the thirty settings that most services need, and the whole help has all`()
        async throws
    {
        func settings(_ option: String) async throws -> Set<String> {
            let help = try await till.run("serve", option)
            #expect(help.status == 0)
            #expect(!help.output.contains("--print-settings") && !help.output.contains("--print-openapi"))
            return Set(help.output.matches(of: /\n  --([a-z-]+)/).map { String($0.1) })
                .intersection(Setting.all.map(\.name))
        }
        let (first, all) = (try await settings("--help"), try await settings("--help-all"))
        #expect(first.count == 30)
        #expect(all.count > 70 && all.isSuperset(of: first))
    }

    /// Prepares the purchases and files of the examples, and returns replacements for numbers that differ in each ledger.
    private func prepare() async throws -> [String: String] {
        for product in ["sprout1", "background1"] {
            #expect(try await till.run("buy", "com.memolease.sesac1.\(product)", "--user", "alice").status == 0)
        }
        for other in [["bob"], ["mint", "--issuer", "customer"]] {
            // The users to whom an example moves a purchase.
            let given = try await till.run(
                arguments: ["give"] + other.prefix(1) + ["background", "1"] + other.dropFirst() + ["--reason", "x"])
            #expect(given.status == 0)
        }
        let deferred = try await till.run(
            "buy", "com.memolease.sesac1.sprout3", "--user", "alice", "--outcome", "deferred")
        #expect(deferred.status == 0)
        try await till.run("receipt", "export", "--user", "alice", "--out", "alice.receipt")
        try await till.run("receipt", "export", "--user", "alice", "--transaction", "1", "--out", "transaction.jws")
        try await till.run("ledger", "backup", "ledger-2026-11-22.sqlite")
        let files = FileManager.default
        for name in ["Garden.storekit", "Configuration.storekit"] {
            try files.copyItem(at: TestGarden.file, to: till.folder.file(name))
        }
        try Data("{}".utf8).write(to: till.folder.file("till.json"))
        let moon = #"{"type":"NonConsumable","displayPrice":"2500","collection":"sprout","number":9}"#
        try Data(moon.utf8).write(to: till.folder.file("sprout9.json"))
        let picture = #"<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>"#
        try Data(picture.utf8).write(to: till.folder.file("moon.svg"))
        try ImportCommandTests.writeExport(
            [["rc_original_app_user_id": "mint"]], to: till.folder.file("transactions.csv"))
        let trust = till.folder.folder("data/service/trust")
        try files.copyItem(at: trust, to: till.folder.folder("apple-roots"))
        let root = try #require(
            files.contentsOfDirectory(atPath: trust.path).first { $0.hasSuffix(".pem") || $0.hasSuffix(".cer") })
        try files.copyItem(at: trust.appending(path: root), to: till.folder.file("AppleRootCA-G3.cer"))
        let appKey = try PrivateKey.generateRSA()
        try Data(try appKey.publicKey.informationText().utf8).write(to: till.folder.file("play-key.txt"))
        #expect(try await till.run("trust", "add", "play-key.txt", "--package", "com.example.garden").status == 0)
        let purchase = try TestPurchase(of: "sprout1", by: appKey)
        try Data(purchase.signed.data).write(to: till.folder.file("purchase.json"))
        try Data(purchase.signed.signature).write(to: till.folder.file("purchase.sig"))
        let queue = try await till.run("store", "queue", "--json").output
        let transaction = try #require(queue.firstMatch(of: /"transactionId" : "(\d+)"/)).1
        let key = try await till.run("keys", "make", "old").output
        func made(_ field: String, _ arguments: String...) async throws -> String {
            let made = try await till.run(arguments: arguments + ["--json"])
            return try #require(try made.json()[field]?.text, "\(arguments): \(made.error)")
        }
        return [
            "4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10": try await made(
                "grantId", "give", "alice", "background", "3", "--reason", "x"),
            "wh_4c2f8c6e": try await made("webhookId", "webhooks", "add", "https://hooks.example.com/till"),
            "2000000000000001": String(transaction),
            "5e5ac1a1b2c3": String(try #require(key.split(separator: "_").dropFirst().first)),
            "63343abf": String(try #require(root.firstMatch(of: /[0-9a-f]{8}/)).0),
            "--bundle-id com.example.garden": "--bundle-id com.memolease.sesac1",
        ]
    }

    @Test func `every example works as printed`() async throws {
        var values = try await prepare()
        let server = try await ServeProcess(till, ["--figures"])
        values["http://127.0.0.1:8080"] = server.url.absoluteString
        values["https://shop.example.com"] = server.url.absoluteString
        let key = try await till.run("keys", "make", "examples", "--scope", "read", "redeem", "figures", "export")
            .output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        // The clipboard of macOS.
        let tools = till.folder.folder("tools")
        try FileManager.default.createDirectory(at: tools, withIntermediateDirectories: true)
        let binary = try #require(till.process(arguments: []).executableURL)
        try FileManager.default.createSymbolicLink(at: tools.appending(path: "till"), withDestinationURL: binary)
        try Data("#!/bin/sh\nexec cat alice.receipt\n".utf8).write(to: tools.appending(path: "pbpaste"))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: tools.appending(path: "pbpaste").path)
        var ran = 0
        for (path, command) in try await HelpCommand.all(of: till) {
            for example in command.examples where !Self.notRun.keys.contains(where: example.hasPrefix) {
                let script = values.reduce(example) { $0.replacing($1.key, with: $1.value) }
                let result = try await run(script, tools: tools, key: key)
                let expected = Self.statuses[example] ?? 0
                #expect(result.status == expected, "\(path.joined(separator: " ")): \(script): \(result.error)")
                ran += 1
            }
        }
        #expect(ran > 40)
        #expect(await server.end(SIGTERM) == 0)
    }

    /// Runs an example in a copy of the prepared directory.
    private func run(_ example: String, tools: URL, key: String) async throws -> (status: Int32, error: String) {
        let copy = try TillProcess(hasKeys: false)
        for name in try FileManager.default.contentsOfDirectory(atPath: till.folder.url.path)
        where !name.hasSuffix(".out") && !name.hasSuffix(".err") && !name.hasSuffix(".in") {
            try FileManager.default.copyItem(at: till.folder.file(name), to: copy.folder.file(name))
        }
        if example.hasPrefix("till serve"), !example.contains("--print-configuration") {
            // Another program may listen at the standard port of the Play.
            let port = example.contains("--play") ? ["--play-port", "0"] : []
            let server = try await ServeProcess(
                copy, Array(DocumentedSession.arguments(of: example[...]).dropFirst()) + port)
            return (await server.end(SIGTERM), try server.log)
        }
        // These examples read what an earlier one has written.
        let earlier = [
            "till products --catalog Catalog": "till init --storekit Garden.storekit --bundle-id a && ",
            "till ledger import ledger.jsonl --data new-data": "till ledger export ledger.jsonl && ",
            "till console invite ada": "till console add-user ada && ",
            "till console set-role ada support": "till console add-user ada && ",
            "till console remove-user ada": "till console add-user ada && ",
            "till products undo 1": "till products withdraw com.memolease.sesac1.sprout1 && ",
        ]
        let before = earlier[example] ?? ""
        let process = Process()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-o", "pipefail", "-c", before + example]
        process.currentDirectoryURL = copy.folder.url
        process.environment = ProcessInfo.processInfo.environment.merging([
            "PATH": tools.path + ":/usr/bin:/bin", "TILL_DATA": copy.folder.folder("data").path,
        ]) { $1 }
        if example.contains("--server") { process.environment?["TILL_API_KEY"] = key }
        let errors = copy.folder.file("example.err")
        try Data().write(to: errors)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: errors)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.launchAlone() } catch { continuation.resume(throwing: error) }
        }
        let status = process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
        return (status, try String(contentsOf: errors, encoding: .utf8))
    }
}
