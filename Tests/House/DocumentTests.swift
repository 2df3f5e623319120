import Foundation
import TestSupport
import Testing

/// The documents, by the rules that hold for all of them.
@Suite struct DocumentTests {
    private func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: HouseTests.root.appending(path: path).standardizedFileURL.path)
    }

    @Test func `each document begins with a title and its purpose`() throws {
        for page in try MarkdownPage.all() {
            #expect(page.lines.count > 3, "\(page.path)")
            #expect(page.lines.first?.hasPrefix("# ") == true, "\(page.path)")
            #expect(page.paragraphs.first?.first == page.lines.dropFirst(2).first, "\(page.path)")
        }
    }

    @Test func `each link leads to a file and a heading of it`() throws {
        let pages = try MarkdownPage.all()
        for page in pages {
            let folder = page.path.split(separator: "/").dropLast().map { "\($0)/" }.joined()
            for link in page.links where !link.hasPrefix("https://") {
                let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let target = parts[0].isEmpty ? page.path : folder + parts[0]
                #expect(exists(target), "\(page.path): \(link)")
                guard parts.count == 2 else { continue }
                let path = HouseTests.root.appending(path: target).standardizedFileURL.path
                let linked = pages.first { HouseTests.root.appending(path: $0.path).path == path }
                #expect(linked?.anchors.contains(String(parts[1])) == true, "\(page.path): \(link)")
            }
        }
    }

    @Test func `the index lists each document of its folder`() throws {
        let index = try MarkdownPage("Documentation/README.md").links
        for page in try MarkdownPage.all()
        where page.path.hasPrefix("Documentation/") && !page.path.hasSuffix("/README.md") {
            let name = page.path.dropFirst("Documentation/".count)
            #expect(index.contains { $0 == name }, "\(name)")
        }
    }

    @Test func `the README is short, with a table of contents and short paragraphs`() throws {
        let page = try MarkdownPage("README.md")
        // Comments, which say how Scripts/test-documents.py runs a block, are invisible.
        #expect(page.lines.count { !$0.hasPrefix("<!--") } <= 121)
        #expect(page.paragraphs.allSatisfy { $0.count <= 4 })
        let headings = page.prose.filter { $0.hasPrefix("## ") }.count
        #expect(page.links.filter { $0.hasPrefix("#") }.count == headings)
    }

    @Test func `each block of shell that is not run has a reason, and these are few`() throws {
        let marks = try MarkdownPage.all().flatMap { page in
            page.lines.filter { $0.hasPrefix("<!-- not run") }.map { "\(page.path): \($0)" }
        }
        for mark in marks {
            #expect(mark.contains(/: <!-- not run(, `[^`]+`)?: \S.* -->$/), "\(mark)")
        }
        // `make test-documents` lists them. A new one is a decision: a command that nobody runs may be wrong.
        #expect(marks.count <= 27, "\(marks.joined(separator: "\n"))")
    }

    @Test func `the README's pictures are small, and drawings follow the reader's color scheme`() throws {
        let pictures = try MarkdownPage("README.md").pictures
        #expect(!pictures.isEmpty)
        for picture in pictures where picture.hasSuffix(".png") {
            // A page of the console in Chromium.
            let file = HouseTests.root.appending(path: picture)
            #expect(try Data(contentsOf: file).count < 150 * 1024, "\(picture)")
        }
        for picture in pictures where picture.hasSuffix(".svg") {
            let text = try String(contentsOf: HouseTests.root.appending(path: picture), encoding: .utf8)
            #expect(text.utf8.count < 40 * 1024, "\(picture)")
            #expect(text.contains("prefers-color-scheme: dark"), "\(picture)")
        }
    }

    @Test func `the checks call the README's test command, and the workflow calls the checks`() throws {
        func lines(_ path: String) throws -> [String] {
            try MarkdownPage(path).lines.map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let commands = try lines("README.md").filter { $0.hasPrefix("make test ") }
        #expect(commands.count == 1)
        #expect(try lines(".ci/run").contains("make test || status=$?"))
        #expect(try lines(".github/workflows/ci.yml").contains("run: .ci/run"))
    }

    @Test func `the picture of the demo doesn't depend on identifiers and times`() async throws {
        func output(_ identifiers: [String], _ time: String, _ folder: String) -> String {
            let receipt = "The app receipt of alice is in \(folder)/alice.receipt.\n"
            let purchases = identifiers.map { "  purchase: sprout1  \($0)  \(time)\n" }.joined()
            let other = "== Another step\nnot drawn\n"
            return "== Alice buys\n$ till buy <sprout1>\n" + purchases + other
                + "== Her app's receipt\n" + receipt + String(repeating: "line\n", count: 9)
                + "== Somebody else\n" + String(repeating: "line\n", count: 9)
                + "== A copy of the receipt\n" + String(repeating: "line\n", count: 9)
        }
        let first = try await draw(
            output(["2316083528031153", "2312787451327961"], "2026-11-24T09:18:06Z", "/tmp/tmp.kuosWfQYVX"))
        let second = try await draw(
            output(["2999999999999999", "2000000000000000"], "2027-02-01T00:00:00Z", "/var/tmp/demo"))
        #expect(first == second)
        #expect(first.contains("$ till buy &lt;sprout1&gt;</text>"))
        #expect(first.contains("  purchase: sprout1  2000000000000002  2027-01-31T12:00:00Z</text>"))
        #expect(!first.contains("not drawn"))
    }

    private func draw(_ output: String) async throws -> String {
        let folder = try TemporaryFolder()
        try Data(output.utf8).write(to: folder.file("output"))
        let script = HouseTests.root.appending(path: "Scripts/demo-picture.awk").path
        let result = try await ShellCommand.run(["awk", "-f", script, folder.file("output").path])
        #expect(result.status == 0, "\(result.errors)")
        return String(decoding: result.output, as: UTF8.self)
    }
}
