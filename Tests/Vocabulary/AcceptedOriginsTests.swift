import Proofs
import Testing
import Vocabulary

@Suite struct AcceptedOriginsTests {
    @Test func `a tester is accepted in the sandbox of each accepted store`() throws {
        let tester = try #require(User(name: "tester"))
        let production = Set(
            [.appleProduction, .googleProduction, .xcode] + [Origin(rawValue: "acme/Production")].compactMap(\.self))
        let accepted = AcceptedOrigins(production, sandboxUsers: [tester])
        let tests = Set(
            ["apple/Sandbox", "google/Test", "acme/Sandbox", "acme/Test"].compactMap(Origin.init(rawValue:)))
        #expect(accepted.origins(for: tester) == production.union(tests))
        #expect(accepted.all == production.union(tests))
    }
}
