import Foundation
import TestSupport
import Testing

/// What `till demo` refuses before it plays a year. The browser tests play it (`Tests/Browser`).
@Suite struct DemoCommandTests {
    private let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    @Test(arguments: ["--data", "--catalog"])
    func `an option that it cannot honour is refused`(option: String) async throws {
        let refused = try await till.run("demo", option, "shop")
        #expect(refused.status == 64)
        #expect(refused.error.contains("of its own. Leave out \(option)."), "\(refused.error)")
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("shop").path))
    }

    @Test func `a database for its ledger is refused`() async throws {
        let refused = try await till.run(
            arguments: ["demo"], environment: ["TILL_LEDGER": "postgres://till@127.0.0.1:1/till"])
        #expect(refused.status == 64)
        #expect(refused.error.contains("TILL_LEDGER names a database"), "\(refused.error)")
    }

    @Test func `settings of another service are ignored and named`() async throws {
        let server = try await ServeProcess(till)
        let port = try #require(server.url.port)
        // The busy port ends the command before the year.
        let refused = try await till.run(
            arguments: ["demo", "--port", "\(port)"],
            environment: ["TILL_ACCEPT": "apple/Production", "TILL_HOST": "0.0.0.0"])
        // The tests have others.
        #expect(refused.error.contains("It ignores TILL_ACCEPT, "), "\(refused.error)")
        #expect(refused.error.contains(", TILL_HOST"), "\(refused.error)")
        #expect(refused.error.contains("127.0.0.1:\(port) is in use by another program."), "\(refused.error)")
        #expect(await server.end(SIGTERM) == 0)
    }

    @Test func `a port in use is found before the year is played`() async throws {
        let server = try await ServeProcess(till)
        let port = try #require(server.url.port)
        let temporary = till.folder.folder("temporary")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
        let refused = try await till.run(
            arguments: ["demo", "--port", "\(port)"], environment: ["TMPDIR": temporary.path])
        #expect(refused.status == 1)
        #expect(refused.error.contains("127.0.0.1:\(port) is in use by another program."), "\(refused.error)")
        #expect(!refused.error.contains("Playing a year"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path) == [])
        #expect(await server.end(SIGTERM) == 0)
    }
}
