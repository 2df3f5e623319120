import Proofs
import Testing

@Suite struct ByteKeyTests {
    @Test func `texts are equal by their bytes, not by canonical equivalence`() {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(composed == decomposed)
        #expect(ByteKey(composed) != ByteKey(decomposed))
        #expect(Set([ByteKey(composed), ByteKey(decomposed), ByteKey(composed)]).count == 2)
        #expect(Item(collection: composed, number: 1) != Item(collection: decomposed, number: 1))
        #expect(Set([Item(collection: composed, number: 1), Item(collection: decomposed, number: 1)]).count == 2)
    }

    @Test func `texts are ordered by their bytes`() {
        #expect(ByteKey("Z") < ByteKey("a"))
        #expect(ByteKey("a") < ByteKey("ab"))
        #expect(!(ByteKey("a") < ByteKey("a")))
        #expect(Item(collection: "a", number: 10) < Item(collection: "a", number: 11))
        #expect(Item(collection: "a", number: 11) < Item(collection: "b", number: 0))
    }

    /// A canonical comparison of these strings takes seconds. A comparison of bytes takes microseconds.
    @Test(.timeLimit(.minutes(1))) func `long runs of combining marks take linear time`() {
        let marks = "a" + String(repeating: "\u{301}", count: 340_000) + String(repeating: "\u{316}", count: 340_000)
        let clock = ContinuousClock()
        let time = clock.measure {
            #expect(Set([Item(collection: marks, number: 1)]).contains(Item(collection: marks, number: 1)))
            #expect(!(Item(collection: marks, number: 1) < Item(collection: marks, number: 1)))
        }
        #expect(time < .seconds(1))
    }

    @Test(
        arguments: [
            ("endAt", "endsAt"), ("timerate", "timeRate"), ("prot", "port"), ("reciept", "receipt"), ("zzz", nil),
            ("", nil), (String(repeating: "\u{301}", count: 10_000), nil),
        ] as [(String, String?)])
    func `the nearest name is suggested`(misspelt: String, name: String?) {
        #expect(
            Suggestion.nearest(to: misspelt, among: ["endsAt", "timeRate", "port", "receipt", "reason"]) == name)
    }
}
