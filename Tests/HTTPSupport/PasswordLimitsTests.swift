import HTTPSupport
import Ledger
import Proofs
import TestSupport
import Testing

@Suite struct PasswordLimitsTests {
    private struct Wrong: Error {}
    private struct OtherFailure: Error {}

    private let clock = ManualClock()

    /// The result of an attempt: the code of the problem, or the name of the error; nil for success.
    private func result(
        _ limits: PasswordLimits, _ name: String, from address: String, throwing error: (any Error)?
    ) async -> String? {
        do {
            try await limits.attempt(name, from: ClientNetwork(forwarded: address), { $0 is Wrong }) {
                if let error { throw error }
            }
            return nil
        } catch let problem as Problem {
            return problem.code
        } catch {
            return "\(type(of: error))"
        }
    }

    /// The number of attempts, at addresses in turn, before one is refused; nil for 2,000 at least.
    private func made(
        _ limits: PasswordLimits, at addresses: [String], throwing error: (any Error)?,
        name: (Int) -> String = { "\($0)" }
    ) async -> Int? {
        for number in 0..<2000 {
            let address = addresses[number % addresses.count]
            let result = await result(limits, name(number), from: address, throwing: error)
            if result == "tooManyAttempts" { return number }
        }
        return nil
    }

    @Test func `guesses and refusals by a full queue cost tokens of the network, other results none`() async {
        let cases: [(error: (any Error)?, made: Int?)] = [
            (Wrong(), 30), (Problem.tooBusy, 30), (OtherFailure(), nil), (nil, nil),
        ]
        for (error, expected) in cases {
            let made = await made(PasswordLimits(clock: clock), at: ["192.0.2.1"], throwing: error)
            #expect(made == expected, "\(String(describing: error))")
        }
    }

    @Test func `a full queue costs no tokens of the name`() async {
        let limits = PasswordLimits(clock: clock)
        for number in 0..<100 {
            let address = "192.0.\(number).1"
            #expect(await result(limits, "alice", from: address, throwing: Problem.tooBusy) == "tooBusy")
        }
        #expect(limits.isQuiet("alice"))
    }

    @Test(arguments: [
        ((0..<100).map { "192.0.2.\($0)" }, 480),
        ((0..<100).map { "2001:db8:1:\(String($0 * 256, radix: 16))::1" }, 480),
        ((0..<100).map { "2001:db8:1:\(String($0, radix: 16))::1" }, 120),
    ])
    func `the networks of one site share its attempts`(addresses: [String], attempts: Int) async {
        let limits = PasswordLimits(clock: clock)
        #expect(await made(limits, at: addresses, throwing: Wrong()) == attempts)
        #expect(await result(limits, "alice", from: "198.51.100.1", throwing: nil) == nil)
    }

    @Test(arguments: [
        ["192.0.2.1"], (0..<100).map { "192.0.2.\($0)" },
        (0..<100).map { "2001:db8:1:\(String($0 * 256, radix: 16))::1" },
    ])
    func `one site uses up no name`(addresses: [String]) async {
        let limits = PasswordLimits(clock: clock)
        #expect(await made(limits, at: addresses, throwing: Wrong(), name: { _ in "alice" }) == 10)
        #expect(!limits.isQuiet("alice"))
        #expect(await result(limits, "alice", from: "198.51.100.1", throwing: nil) == nil)
    }

    @Test func `many sites use up a name`() async {
        let limits = PasswordLimits(clock: clock)
        var guesses = 0
        for site in 0..<100 {
            for _ in 0..<12 where await result(limits, "alice", from: "192.0.\(site).1", throwing: Wrong()) == "Wrong" {
                guesses += 1
            }
        }
        // Two subjects may share one of 65,536 places.
        #expect((18...20).contains(guesses))
        clock.advance(milliseconds: 86_400_000)
        #expect(limits.isQuiet("alice"))
    }
}
