import AppStore
import Foundation
import HTTPSupport
import TestSupport
import Testing

/// `Documentation/Testing.md`, walked from top to bottom in one directory.
@Suite struct TestingPageTests {
    /// Beginnings of lines that need root, or a request that a server has signed.
    private static let notRun = ["till store --as-apple", "till store --tls", "till store judge", "KEY=c8b23df1"]

    /// Parts of lines that show a failure or a crash, with its exit status.
    private static let statuses: [(part: String, status: Int32)] = [
        // The server has set no address for retention messages.
        ("till store retention", 1), ("--outcome cancelled", 1), ("--kill-after", SIGKILL),
    ]

    /// The commands of the page, without comments.
    private static func lines() throws -> [String] {
        try Project.text("Documentation/Testing.md").split(separator: "\n").filter { line in
            ["till ", "curl ", "export ", "KEY=", "TILL_API_KEY="].contains { line.hasPrefix("    " + $0) }
        }.map { $0.prefix { $0 != "#" }.trimmingCharacters(in: .whitespaces) }
            .filter { line in !notRun.contains { line.hasPrefix($0) } }
    }

    private let till: TillProcess

    init() throws {
        till = try TillProcess()
        try FileManager.default.copyItem(at: TestGarden.file, to: till.folder.file("Garden.storekit"))
        // An error response fails the line.
        try Data("fail\nsilent\nshow-error\n".utf8).write(to: till.folder.file(".curlrc"))
    }

    private func run(_ line: String, environment: [String: String]) async throws {
        let result = try await till.run(arguments: DocumentedSession.arguments(of: line), environment: environment)
        let expected = Self.statuses.first { line.contains($0.part) }?.status ?? 0
        #expect(result.status == expected, "\(line): \(result.output)\(result.error)")
    }

    /// A transaction of alice in place of the page's, and one of bob, who has a seat; the page's if they have bought nothing.
    private func withSale(_ line: String) async throws -> String {
        var line = line
        for (named, account) in [("2000000123456789", "alice"), ("2000000987654321", "bob")] where line.contains(named)
        {
            let sales = try await till.run("store", "sales", account, "--json").decoded(List<SaleResource>.self)
            line = line.replacing(named, with: sales.elements.last?.transactionId ?? named)
        }
        return line
    }

    @Test func `every line works in one directory, from top to bottom`() async throws {
        var environment = ["TILL_SANDBOX_KEY": "0123456789abcdef", "CURL_HOME": "."]
        environment["KEY"] = environment["TILL_SANDBOX_KEY"]
        var (store, service): (ServeProcess?, ServeProcess?)
        let lines = try Self.lines()
        #expect(lines.count > 25)
        for line in lines {
            if line.hasPrefix("till store --products") {
                let arguments = DocumentedSession.arguments(of: line.replacing(":3000/", with: ":1/")).dropFirst()
                store = try await ServeProcess(till, Array(arguments), command: "store", environment: environment)
            } else if line == "till serve &" {
                service = try await ServeProcess(till, environment: environment)
            } else if let made = line.wholeMatch(of: /KEY=\$\((till keys make .*)\)/) {
                environment["KEY"] = try await till.run(arguments: DocumentedSession.arguments(of: made.1)).output
                    .trimmingCharacters(in: .newlines)
            } else if let variable = line.wholeMatch(of: /export (\w+)=(\w+)/) {
                environment[String(variable.1)] = String(variable.2)
            } else if line.hasPrefix("curl ") {
                let address = [store, service].compactMap { $0?.url.absoluteString }
                let script = line.replacing("http://127.0.0.1:8081", with: address.first ?? "")
                    .replacing("http://127.0.0.1:8080", with: address.last ?? "")
                let key = environment["KEY"] ?? ""
                try await Tool.run(
                    "bash", ["-c", "export CURL_HOME=. KEY=\(key); \(script) > answer"], in: till.folder.url)
            } else {
                environment["TILL_API_KEY"] = line.hasPrefix("TILL_API_KEY=") ? environment["KEY"] : nil
                let address = service?.url.absoluteString ?? ""
                let call = line.replacing("TILL_API_KEY=$KEY ", with: "").replacing(".till/", with: "data/")
                    .replacing("http://127.0.0.1:8080", with: address)
                try await run(try await withSale(call), environment: environment)
            }
        }
        #expect(await service?.end(SIGTERM) == 0)
        #expect(await store?.end(SIGTERM) == 0)
    }
}
