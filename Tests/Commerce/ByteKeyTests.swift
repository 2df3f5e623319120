import Proofs
import Testing

@Suite struct ByteKeyTests {
    @Test func `texts are equal by their bytes, not by canonical equivalence`() {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(composed == decomposed)
        #expect(ByteKey(composed) != ByteKey(decomposed))
        #expect(Set([ByteKey(composed), ByteKey(decomposed), ByteKey(composed)]).count == 2)
    }

    @Test func `texts are ordered by their bytes`() {
        #expect(ByteKey("Z") < ByteKey("a"))
        #expect(ByteKey("a") < ByteKey("ab"))
        #expect(!(ByteKey("a") < ByteKey("a")))
    }

    /// A canonical comparison of these strings takes seconds. A comparison of bytes takes microseconds.
    @Test(.timeLimit(.minutes(1))) func `long runs of combining marks take linear time`() {
        let marks = "a" + String(repeating: "\u{301}", count: 340_000) + String(repeating: "\u{316}", count: 340_000)
        let clock = ContinuousClock()
        let time = clock.measure {
            #expect(Set([ByteKey(marks)]).contains(ByteKey(marks)))
            #expect(!(ByteKey(marks) < ByteKey(marks)))
        }
        #expect(time < .seconds(1))
    }
}
