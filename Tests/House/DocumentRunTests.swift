import Foundation
import TestSupport
import Testing

/// `Scripts/test-documents.py` over pages with and without faults, with a program of a few lines in the place of `till`.
@Suite struct DocumentRunTests {
    /// Sells, prints what was sold as JSON, or refuses.
    private static let program = """
        #!/bin/sh
        case "$1" in
        sell) echo "sold 2000000000000001 at 2026-11-29T12:00:00Z"; echo "2000000000000001 is alice's" ;;
        json) echo '{"status": "refunded", "code": 422, "id": "2000000000000001"}' ;;
        fail) echo refused >&2; exit 1 ;;
        esac

        """

    /// The blocks of pages, with the ends of the commands that the script reports.
    private static let pages: [(blocks: String, faults: [String])] = [
        ("    till sell\n    till json", []),
        // A number may be another one, if it is the same in each line; a time, too.
        (
            "```console\n$ till sell\nsold 2999999999999999 at 2027-01-01T00:00:00Z\n2999999999999999 is alice's\n```",
            []
        ),
        (
            "```console\n$ till sell\nsold 2999999999999999 at 2027-01-01T00:00:00Z\n2888888888888888 is alice's\n```",
            ["another output"]
        ),
        ("```console\n$ till sell\nsold …\n…\n```", []),
        ("```console\n$ till sell\nbought …\n…\n```", ["another output"]),
        ("    till fail", ["status 1. refused"]), ("<!-- status 1, `till fail`: it has to -->\n    till fail", []),
        ("<!-- status 1, `till`: it has to -->\n    till sell", ["status 0. sold"]),
        ("    till fail\n    till sell", ["status 1. refused"]),
        ("<!-- not run: needs a store -->\n    till fail", []),
        ("<!-- not run, `till fail`: needs a store -->\n    till sell\n    till fail", []),
        ("    cat missing.json", ["No such file"]), ("```json here.json\n{}\n```\n\n    cat here.json", []),
        ("<!-- run: SHOP=garden -->\n    [ $SHOP = garden ]", []),
        ("<!-- run: till fail -->\n    till sell", ["status 1. refused"]),
        ("<!-- replace NUMBER: echo 7 -->\n    [ NUMBER = 7 ]", []),
        ("<!-- run: touch here -->\n    ls here\n\n<!-- afresh -->\n    ls here", ["No such file"]),
        (json(#"{"status": "refunded", "code": 422, "id": "2111111111111111"}"#), []),
        (json(#"{"status": "refunded", "…": "…"}"#), []),
        (json(#"{"status": "revoked", "…": "…"}"#), ["the last command says"]),
        (json(#"{"status": "refunded", "code": 409, "id": "…"}"#), ["the last command says"]),
        (json(#"{"status": "refunded", "code": 422}"#), ["the last command says"]),
    ]

    private static func json(_ shown: String) -> String {
        "    till json\n\n<!-- output -->\n```json\n\(shown)\n```"
    }

    private func run(_ blocks: String) async throws -> ShellCommand.Result {
        let folder = try TemporaryFolder()
        let (program, page) = (folder.file("till"), folder.file("Page.md"))
        try Data(Self.program.utf8).write(to: program)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
        try Data("# Page\n\nA page.\n\n\(blocks)\n".utf8).write(to: page)
        let script = HouseTests.root.appending(path: "Scripts/test-documents.py").path
        return try await ShellCommand.run(["python3", script, program.path, page.path])
    }

    @Test func `each fault of a page is reported with its line, and nothing else`() async throws {
        for (blocks, faults) in Self.pages {
            let result = try await run(blocks)
            let output = String(decoding: result.output, as: UTF8.self)
            #expect(result.status == (faults.isEmpty ? 0 : 1), "\(blocks)\n\(output)\(result.errors)")
            for fault in faults { #expect(output.contains(fault), "\(blocks)\n\(output)") }
            #expect(output.contains(" passed, \(faults.count) failed"), "\(blocks)\n\(output)")
        }
        let output = String(decoding: try await run("    till sell\n    till fail").output, as: UTF8.self)
        #expect(output.contains("Page.md:6: till fail\n  status 1. refused"))
    }

    @Test func `a block that is not run is listed with its reason`() async throws {
        let output = String(
            decoding: try await run("<!-- not run: needs a store -->\n    till fail").output, as: UTF8.self)
        #expect(output.contains("Not run: 1\n  needs a store\n"))
    }

    @Test(arguments: [
        "<!-- todo: later -->\n    till sell", "<!-- not run -->\n    till fail",
        "<!-- not run, `till nothing`: needs a store -->\n    till fail",
        "<!-- not run: it is no shell -->\n```json\n{}\n```",
        "```console\nsold\n```",
    ])
    func `a mark that says nothing, or of nothing, is an error`(blocks: String) async throws {
        let result = try await run(blocks)
        #expect(result.status != 0)
        #expect(result.errors.contains("Page.md:"), "\(result.errors)")
    }
}
