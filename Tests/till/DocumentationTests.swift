import AppStore
import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing
import Vocabulary
import till

/// The examples of the documentation, run against the real binary.
@Suite struct DocumentationTests {
    let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    @Test func `the ten calls of the API's documentation work as printed`() async throws {
        let lines = try Project.text("Documentation/API.md").split(separator: "\n").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        let calls = lines.filter { $0.hasPrefix("curl -H ") }
        #expect(calls.count == 10)
        let bought = try await till.run(
            "buy", "com.memolease.sesac1.sprout1", "--user", "alice", "--kill-after", "purchased")
        #expect(bought.signal == SIGKILL)
        let receipt = till.folder.file("data/alice.receipt")
        #expect(try await till.run("receipt", "export", "--user", "alice", "--out", receipt.path).status == 0)
        let server = try await ServeProcess(till)
        let made = try #require(lines.first { $0.contains("till keys make") }?.firstMatch(of: /(--scope [a-z]+ ?)+/))
        let arguments = made.0.split(separator: " ").map(String.init)
        let key = try await till.run(arguments: ["keys", "make", "shop"] + arguments).output
            .trimmingCharacters(in: .newlines)
        // An error response fails the line.
        try Data("fail\nsilent\nshow-error\n".utf8).write(to: till.folder.file(".curlrc"))
        let script = calls.map { $0.replacing("http://127.0.0.1:8080", with: server.url.absoluteString) }
        for (number, call) in script.enumerated() {
            try await Tool.run(
                "bash", ["-c", "CURL_HOME=. KEY=\(key) TILL_DATA=data; export CURL_HOME; \(call) > \(number).answer"],
                in: till.folder.url)
        }
        let answers = try (0..<10).map { try String(contentsOf: till.folder.file("\($0).answer"), encoding: .utf8) }
        #expect(answers[2].contains("\"kind\":\"appReceipt\""))
        #expect(answers[4].contains("\"outcome\":\"granted\""))
        #expect(answers[5] == answers[4])
        let owned = try JSONDecoder().decode(List<OwnedItemResource>.self, from: Data(answers[7].utf8)).elements
        #expect(owned.contains { $0.item == Item(collection: "background", number: 2) && $0.source == "grant" })
        #expect(answers[8].contains("\"transactionId\""))
        #expect(answers[9].contains("till_redemptions_total{outcome=\"granted\",code=\"\"} 1\n"))
    }

    @Test func `each command that a text names exists, and its parser accepts the call`() async throws {
        let root = try await HelpCommand.root(of: till)
        let calls = try MentionedCommand.all()
        #expect(calls.count { $0.isCode } > 300)
        for call in calls {
            let command = root.called(by: call.words.map { $0[...] })
            guard command.commandName != root.commandName else {
                // Prose may have the name of the program, too.
                #expect(!call.isCode, "\(call)")
                #expect(!call.path.hasSuffix(".swift") || ["command", "for"].contains(call.words.first), "\(call)")
                continue
            }
            let options = Set(call.words.filter { $0.hasPrefix("--") }.map { String($0.prefix { $0 != "=" }) })
            #expect(options.subtracting(["--", "--help", "--help-all"]).subtracting(command.options) == [], "\(call)")
            if call.isCode, let refusal = call.refusal { Issue.record("\(call): \(refusal)") }
        }
    }

    @Test func `every setting is an option, a variable and a member of the file, as the tables say`() async throws {
        let help = try await till.run("serve", "--help-all").output
        var options = Set(help.matches(of: /\n  --([a-z-]+)/).map { String($0.1) })
        options.subtract([
            "config", "print-configuration", "store", "play", "play-port", "sandbox-key", "json", "version", "help",
        ])
        let settings = Setting.all
        #expect(Set(settings.map(\.name)).count == settings.count)
        // `apps` is a list of objects. Other users can read the command line, so it takes no secrets.
        #expect(options == Set(settings.filter { !$0.isSecret && $0.name != "apps" }.map(\.name)))
        let printed = try await till.run("serve", "--print-configuration")
        #expect(Set(try printed.json().keys).subtracting(settings.map(\.name)) == [])
        let lines = printed.error.split(separator: "\n").drop { !$0.hasPrefix("SETTING ") }
        let listed = lines.dropFirst().compactMap { $0.split(separator: " ").first }
        #expect(listed == settings.map { Substring($0.name) })
    }

    @Test func `the tables of settings are those of the definitions`() throws {
        let page = try Project.text("Documentation/Configuration.md")
        for group in SettingGroup.all {
            let section = try #require(page.components(separatedBy: "\n## ").first { $0.hasPrefix("\(group.title)\n") })
            let rows = section.split(separator: "\n").filter { $0.hasPrefix("| ") }.map(String.init)
            #expect(rows == SettingsDocumentation.table(group), "Run `make settings`.")
        }
        // Each limit of the threat model has a setting.
        let names = Set(Setting.all.map(\.name))
        let limits = try #require(
            try Project.text("Documentation/ThreatModel.md").components(separatedBy: "\n## Limits\n").last)
        let named = limits.split(separator: "\n").compactMap { $0.wholeMatch(of: /\|.*\| `([a-z-]+)` \|/) }
        #expect(named.count >= 10)
        for name in named { #expect(names.contains(String(name.1)), "\(name.1)") }
    }
}
