import Foundation
import GRDB
import TestSupport
import Testing
import till

/// The output of every command that lists texts of others, over a ledger whose texts control a terminal.
@Suite struct HostileTextTests {
    /// An escape sequence that clears the screen, one that sets the clipboard, a forged row, a C1 control sequence, bidirectional overrides,
    /// and invisible characters.
    private static let hostile =
        "a\u{1B}[2J\u{1B}]52;c;cm0=\u{7}\r\nforged\u{9B}31m\u{7F}\u{202E}\u{2066}\u{200F}\u{61C}\u{2028}\u{200B}\u{E0041}"

    private static func isHostile(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x0A, 0x0B..<0x20, 0x7F...0x9F, 0x61C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF,
            0xE0000...0xE0FFF:
            true
        default: false
        }
    }

    /// Expects no hostile character in a text, and no line that a value has begun.
    private func expectShown(_ text: String, _ command: [String]) {
        #expect(!text.unicodeScalars.contains(where: Self.isHostile), "\(command): \(text.debugDescription)")
        #expect(!text.split(separator: "\n").contains { $0.hasPrefix("forged") }, "\(command)")
    }

    /// Writes the hostile text into columns of the ledger, as an import or a later version could.
    private func spoil(_ till: TillProcess) throws {
        let columns: [(table: String, columns: [String])] = [
            ("product", ["product_id"]), ("attribute", ["name", "value"]),
            ("team_grant", ["reason", "granted_by"]), ("api_key", ["name", "person"]),
            ("audit", ["subject", "reference"]), ("team_member", ["name"]), ("team_revocation", ["reason"]),
            ("notification", ["type", "subtype", "transaction_id"]), ("webhook_endpoint", ["url"]),
        ]
        try DatabaseQueue(path: till.folder.file("data/service/ledger.sqlite").path).write { database in
            let triggers = try String.fetchAll(database, sql: "SELECT name FROM sqlite_schema WHERE type = 'trigger'")
            for trigger in triggers { try database.execute(sql: "DROP TRIGGER \"\(trigger)\"") }
            for (table, columns) in columns where try database.tableExists(table) {
                for column in columns {
                    try database.execute(
                        sql: "UPDATE \(table) SET \(column) = \(column) || ? WHERE \(column) IS NOT NULL",
                        arguments: [Self.hostile])
                }
            }
        }
    }

    @Test func `no command prints a text that controls the terminal`() async throws {
        let till = try TillProcess()
        let server = try await ServeProcess(till, ["--store", "--console"])
        #expect(try await till.run("store", "buy", "com.memolease.sesac1.sprout2", "--account", "carol").status == 0)
        try await expectEventually { try await till.run("notifications").output.contains("CHARGE") }
        #expect(await server.end(SIGTERM) == 0)
        for arguments in [
            ["buy", "com.memolease.sesac1.sprout1", "--user", "alice", "--proof", "transaction"],
            ["attributes", "set", "alice", "level", "9"], ["attributes", "set", "alice", "note", "a\u{202E}\nforged"],
            ["give", "alice", "sprout", "3", "--reason", "Sorry"], ["keys", "make", "shop"],
            ["console", "add-user", "ada", "--role", "admin"], ["webhooks", "add", "http://127.0.0.1:9/"],
        ] {
            let done = try await till.run(
                arguments: arguments, environment: ["TILL_WEBHOOK_PRIVATE_ADDRESSES": "true"])
            #expect(done.status == 0, "\(arguments): \(done.error)")
        }
        try spoil(till)
        // The commands with true show a hostile text of the ledger, escaped.
        let commands: [(arguments: [String], isEscaped: Bool)] = [
            (["attributes", "list", "alice"], true), (["grants", "list", "alice"], true), (["keys", "list"], true),
            (["audit", "alice"], true), (["story", "alice"], true), (["notifications"], true),
            (["webhooks"], true), (["console", "list-users"], true), (["unclaimed"], false),
            (["console", "actions"], false), (["refusals"], false), (["customers", "a"], false),
            (["customers", "list", "--environment", "sandbox"], false), (["owned", "alice"], false),
            (["why", "alice", "sprout", "3"], false), (["why", "alice", "sprout", "1"], false), (["products"], false),
            (["products", "compare", "--environment", "sandbox"], false), (["transaction", "1"], false),
            (["refunds"], false), (["ledger", "check"], false), (["figures", "units"], false), (["doctor"], false),
            (["export-user", "alice"], false), (["trust", "list"], false), (["store", "queue"], false),
            (["store", "sales", "carol"], false), (["store", "notifications"], false),
            (["products", "history"], false),
            // The arguments of the command itself.
            (["why", "alice", Self.hostile, "1"], false), (["owned", Self.hostile], true), ([Self.hostile], true),
            (["--\(Self.hostile)"], false), (["owned", "alice", "--data", Self.hostile], true),
            (["keys", "revoke", Self.hostile], false), (["receipt", "validate", Self.hostile], true),
            (["products", "--locale", Self.hostile], true), (["serve", "--ownership", Self.hostile], true),
        ]
        for (arguments, isEscaped) in commands {
            let shown = try await till.run(arguments: arguments)
            expectShown(shown.output + shown.error, arguments)
            if isEscaped { #expect((shown.output + shown.error).contains("\\u{202E}"), "\(arguments): \(shown)") }
            let json = try await till.run(arguments: arguments + ["--json"])
            expectShown(json.output, arguments)
        }
        // An export keeps the bytes in a file, and not on a terminal.
        let export = ["export", "transactions", "--format", "jsonl"]
        let copied = try await till.run(arguments: export)
        #expect(copied.status == 0 && copied.output.unicodeScalars.contains("\u{202E}"), "\(copied)")
        var typist = till
        typist.launcher = ["/bin/sh", "-c", "exec script -qec \"$0 $*\" /dev/null"]
        let typed = try await typist.run(arguments: export).output.replacing("\r\n", with: "\n")
        expectShown(typed, export)
        #expect(typed.contains("\\u{202E}"), "\(typed)")
        let listed = try await till.run("attributes", "list", "alice", "--json").output
        #expect(listed.contains(#"a\u001B[2J"#) || listed.contains(#"a\u001b[2J"#), "\(listed)")
        #expect(listed.contains(#"\u009B31m\u007F\u202E\u2066\u200F\u061C\u2028\u200B\uDB40\uDC41"#), "\(listed)")
    }
}
