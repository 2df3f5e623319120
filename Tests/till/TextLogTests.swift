import Foundation
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

        func write(_ line: Data) { write(String(decoding: line, as: UTF8.self)) }
    }

    @Test func `a line is that of the library`() {
        func lines(_ handler: (String, Lines) -> any LogHandler) -> [Substring] {
            let lines = Lines()
            var logger = Logger(label: "till.service") { handler($0, lines) }
            logger.notice("plain")
            logger.info("own", metadata: ["b": "2", "a": ["x", "y"]])
            logger[metadataKey: "request"] = "7"
            logger.error("inherited")
            logger.warning("both", metadata: ["request": "8", "code": "busy"])
            logger.debug("below the level")
            return lines.texts
        }
        let expected = lines { StreamLogHandler(label: $0, stream: $1) }
        #expect(expected.count == 4)
        #expect(lines { TextLogHandler(label: $0, write: $1.write) } == expected)
    }

    @Test func `a value of a stranger begins no line, and controls no terminal`() {
        struct Refusal: Error { let name = "\u{9B}2J" }
        let lines = Lines()
        let logger = Logger(label: "till.service") { TextLogHandler(label: $0, write: lines.write) }
        logger.notice(
            "refused\nok", metadata: ["name": "a\r\u{1B}[2J\u{202E}", "nested": ["k": ["x\u{2028}y"]]])
        logger.error("failed", error: Refusal())
        #expect(lines.texts.count == 2)
        #expect(lines.texts[0].hasSuffix("refused\\nok"))
        #expect(lines.texts[0].contains("name=a\\r\\u{1B}[2J\\u{202E} "))
        #expect(lines.texts[0].contains("x\\u{2028}y"))
        #expect(lines.texts.allSatisfy { $0.unicodeScalars.allSatisfy { !(0x80...0x9F).contains($0.value) } })
    }
}
