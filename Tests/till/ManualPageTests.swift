import Foundation
import TestSupport
import Testing

/// The manual pages that `Scripts/man-page.py` writes for a package.
@Suite struct ManualPageTests {
    let till: TillProcess

    init() throws {
        till = try TillProcess(hasKeys: false)
    }

    /// Writes the pages of a description into the folder `pages`.
    private func writePages(_ description: String) async throws {
        try Data(description.utf8).write(to: till.folder.file("help.json"))
        try FileManager.default.createDirectory(at: till.folder.folder("pages"), withIntermediateDirectories: true)
        let script = Project.root.appending(path: "Scripts/man-page.py").path
        try await Tool.run(
            "bash", ["-c", "python3 \"$0\" 1.2.3 2026-11-24 pages <help.json", script], in: till.folder.url)
    }

    private func page(_ name: String) throws -> String {
        try String(contentsOf: till.folder.file("pages/\(name).1"), encoding: .utf8)
    }

    @Test func `each command has a page with its options`() async throws {
        try await writePages(try await till.run("--experimental-dump-help").output)
        for command in [[], ["buy"], ["serve"], ["receipt", "validate"], ["store", "time"], ["ledger", "restore"]] {
            let page = try page((["till"] + command).joined(separator: "-"))
            #expect(page.contains("\"2026-11-24\" \"Till 1.2.3\""))
            // The page has all settings, the help of the terminal only those that most services need.
            let help = try await till.run(arguments: command + ["--help-all"]).output
            let options = help.matches(of: /\n +(-h, )?--([a-z-]+)\s/).map { String($0.2) }
            #expect(options.contains("help"))
            for option in options {
                #expect(page.contains(#"\fB\-\-\#(option.replacing("-", with: #"\-"#))\fR"#), "\(command) --\(option)")
            }
        }
        #expect(try !page("till-serve").contains("print\\-settings"))
        #expect(try page("till-buy").contains("\n.SH EXAMPLES\n.RS 4\n.EX\ntill buy com.memolease"))
        #expect(try page("till-ledger").contains("\n\\fBtill ledger backup\\fR\n"))
    }

    @Test func `no line of the help becomes a request of roff`() async throws {
        try await writePages(
            #"""
            {"serializationVersion": 0, "command": {"commandName": "till", "shouldDisplay": true,
             "abstract": "Plays.", "discussion": ".so /etc/passwd\n\n  'br\n  a\\b \"c\"", "arguments": [
              {"kind": "option", "names": [{"kind": "long", "name": "a-b"}], "valueName": "x", "isOptional": true,
               "isRepeating": false, "shouldDisplay": true, "abstract": ".ig"}]}}
            """#)
        let page = try page("till")
        #expect(page.contains("\n.PP\n\\&.so /etc/passwd\n"))
        #expect(page.contains("\n\\(aqbr\na\\eb \"c\"\n"))
        #expect(page.contains("\n.TP\n\\fB\\-\\-a\\-b\\fR \\fIx\\fR\n\\&.ig\n"))
    }

    @Test func `a description of another format is refused`() async throws {
        await #expect(throws: Tool.Failure.self) {
            try await writePages(#"{"serializationVersion": 1, "command": {}}"#)
        }
    }
}
