import Foundation
import TestSupport
import Testing

/// `Documentation/TestingGooglePlay.md` up to Google's client, walked from top to bottom in one directory.
@Suite struct TestingGooglePlayPageTests {
    /// The commands of the page, without comments.
    private static func lines() throws -> [String] {
        let page = try Project.text("Documentation/TestingGooglePlay.md")
        let end = try #require(page.firstRange(of: "\n## Google's client")).lowerBound
        return page[..<end].split(separator: "\n").filter { line in
            ["till ", "curl ", "KEY="].contains { line.hasPrefix("    " + $0) }
        }.map { $0.prefix { $0 != "#" }.trimmingCharacters(in: .whitespaces) }
    }

    private let till: TillProcess

    init() throws {
        till = try TillProcess()
        // An error response fails the line.
        try Data("fail\nsilent\nshow-error\n".utf8).write(to: till.folder.file(".curlrc"))
        let tools = till.folder.folder("tools")
        try FileManager.default.createDirectory(at: tools, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: tools.appending(path: "till"),
            withDestinationURL: try #require(till.process(arguments: []).executableURL))
    }

    private func run(_ line: String, key: String) async throws {
        let variables = [
            "PATH": till.folder.folder("tools").path + ":$PATH", "TILL_DATA": till.folder.folder("data").path,
            "CURL_HOME": till.folder.url.path, "KEY": key,
        ].map { "export \($0)=\"\($1)\"; " }.joined()
        // The app kills itself with SIGKILL.
        let status = line.contains("--kill-after") ? 137 : 0
        do {
            try await Tool.run("bash", ["-c", variables + "\(line)\n[ $? -eq \(status) ]"], in: till.folder.url)
        } catch {
            Issue.record("\(line): \(error)")
        }
    }

    @Test func `every line works in one directory, from top to bottom`() async throws {
        var key = ""
        var servers: [ServeProcess] = []
        var address = ""
        let lines = try Self.lines()
        #expect(lines.count > 20)
        for line in lines {
            switch line {
            case "till play": servers.append(try await ServeProcess(till, command: "play"))
            case "till serve &":
                servers.append(try await ServeProcess(till))
                address = servers.last?.url.absoluteString ?? ""
            case "till serve --play &":
                for server in servers { #expect(await server.end(SIGTERM) == 0) }
                servers = [try await ServeProcess(till, ["--play", "--play-port", "0"])]
            case _ where line.hasPrefix("KEY="): key = try await till.makeKey()
            default: try await run(line.replacing("http://127.0.0.1:8080", with: address), key: key)
            }
        }
        // The Play has told the service of both refunds. The App Store has sold the background, too.
        try await expectEventually {
            let owned = try await till.run("owned", "alice").output
            return !owned.contains("sprout 3") && owned.contains("background 2") && owned.contains("sprout 4")
        }
        for server in servers { #expect(await server.end(SIGTERM) == 0) }
    }
}
