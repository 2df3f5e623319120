import Foundation
import Logging
import Proofs
import Synchronization
import TestSupport
import Testing
import till

@Suite struct JSONLogTests {
    /// The lines that a logger has written.
    private final class Lines: Sendable {
        private let written = Mutex(Data())

        var text: String { written.withLock { String(decoding: $0, as: UTF8.self) } }

        func write(_ line: Data) { written.withLock { $0.append(line) } }
    }

    @Test func `an event is one line of JSON, with its metadata`() throws {
        let lines = Lines()
        let clock = ManualClock(Timestamp(millisecondsSince1970: 1_790_000_000_007))
        var logger = Logger(label: "till.service") { JSONLogHandler(label: $0, clock: clock, write: lines.write) }
        logger[metadataKey: "service"] = "shop"
        logger.notice(
            "two\nlines \"quoted\"",
            metadata: ["status": "\(200)", "nested": ["a": ["x", "y\r\n"]], "service": "other"])
        logger.debug("below the level")
        logger.error("plain")
        #expect(
            lines.text == """
                {"label":"till.service","level":"notice","message":"two\\nlines \\"quoted\\"",\
                "metadata":{"nested":{"a":["x","y\\r\\n"]},"service":"other","status":"200"},\
                "time":"2026-09-21T14:13:20.007Z"}
                {"label":"till.service","level":"error","message":"plain","metadata":{"service":"shop"},\
                "time":"2026-09-21T14:13:20.007Z"}

                """)
    }

    @Test func `with log-format json, the log of the service is JSON, line by line`() async throws {
        struct Line: Decodable {
            let time: String
            let level: String
            let label: String
            let message: String
            let metadata: [String: String]?
        }
        let till = try TillProcess(hasKeys: false)
        let key = try await till.run("keys", "make", "shop", "--json").decoded(MadeKey.self).key
        let service = try await ServeProcess(till, ["--log-format", "json"])
        #expect(try await service.curl("/v1/products", key: key).status == 200)
        #expect(await service.end(SIGTERM) == 0)
        // The command prints its own remarks before, as text.
        let lines = try service.log.split(separator: "\n").filter { !$0.hasPrefix("till: ") }.map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
        let first = try #require(lines.first)
        #expect((first.message, first.level, first.label) == ("starting", "notice", "till.service"))
        #expect(lines.contains { $0.metadata?["route"] == "/v1/products" && $0.metadata?["status"] == "200" })
        #expect(lines.allSatisfy { Timestamp(internetDateTime: $0.time) != nil })
    }

    @Test func `an unknown log format ends the service at once`() async throws {
        let till = try TillProcess(hasKeys: false)
        let result = try await till.run("serve", "--log-format", "xml", "--print-configuration")
        #expect(result.status == 64)
        #expect(result.error.contains("log-format") && result.error.contains("text, json"))
    }
}
