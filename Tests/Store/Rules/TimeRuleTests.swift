import AppStore
import HTTPSupport
import Proofs
import Testing

/// The length of a step of the store's clock.
@Suite struct TimeRuleTests {
    @Test(
        arguments: [
            ("90s", 90), ("5min", 300), ("2h", 7200), ("3d", 259_200), ("1w", 604_800),
            // From 21 September.
            ("1mo", 30 * 86_400), ("2mo", 61 * 86_400), ("1y", 365 * 86_400), ("10y", 3653 * 86_400),
        ] as [(String, Int64)])
    func `a step is as long as the calendar says`(text: String, seconds: Int64) throws {
        #expect(try TimeStep(text)?.seconds(from: RuleFixture.now) == seconds)
    }

    @Test func `a step from the last day of a month leads to the last day of the next`() throws {
        let start = try #require(Timestamp(rfc3339: "2027-01-31T12:00:00Z"))
        #expect(try TimeStep("1mo")?.seconds(from: start) == 28 * 86_400)
    }

    @Test(arguments: [.seconds(-1), .seconds(3660 * 86_400 + 1), TimeStep("11y")] as [TimeStep?])
    func `time goes forward, at most ten years at once`(step: TimeStep?) throws {
        let step = try #require(step)
        #expect(throws: StoreError.self) { try step.seconds(from: RuleFixture.now) }
    }
}
