import Logging
import Synchronization
import Testing
import till

@Suite struct TextLogTests {
    /// The lines that a logger has written.
    private final class Lines: TextOutputStream, Sendable {
        private let written = Mutex("")

        /// The lines without their times.
        var texts: [Substring] {
            written.withLock(\.self).split(separator: "\n").map { $0.drop { $0 != " " } }
        }

        func write(_ text: String) { written.withLock { $0 += text } }
    }

    @Test func `a line is that of the library`() {
        func lines(_ handler: (StreamLogHandler) -> any LogHandler) -> [Substring] {
            let lines = Lines()
            var logger = Logger(label: "till.service") { handler(StreamLogHandler(label: $0, stream: lines)) }
            logger.notice("plain")
            logger.info("own", metadata: ["b": "2", "a": ["x", "y"]])
            logger[metadataKey: "request"] = "7"
            logger.error("inherited")
            logger.warning("both", metadata: ["request": "8", "code": "busy"])
            logger.debug("below the level")
            return lines.texts
        }
        let expected = lines { $0 }
        #expect(expected.count == 4)
        #expect(lines { TextLogHandler($0) } == expected)
    }
}
