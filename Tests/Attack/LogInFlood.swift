import NIOCore

/// Attack 13: log-ins of invented names and sign-ups from one network, more than the service can hash.
struct LogInFlood: Attack {
    let name = "13, log-ins from one network"
    let serviceOptions = OneNetwork.serviceOptions + ["--accounts"]

    private static let user = "honest"

    private let home = OneNetwork.other(1)

    func probes(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Probe] {
        _ = try await client.answer(to: OneNetwork.signUp(Self.user, from: home), expecting: 201)
        return []
    }

    func start(by attacker: Attacker) async throws {
        attacker.hold(100, openedEvery: .milliseconds(5), replacedAfter: .milliseconds(100)) { number in
            RepeatingHandler(pause: .milliseconds(100)) { turn in
                let name = "invented\(number)-\(turn)"
                let address = OneNetwork.address(number + 100 * turn)
                return turn % 4 == 3
                    ? OneNetwork.signUp(name, from: address)
                    : OneNetwork.logIn(name, password: "wrong password", from: address)
            }
        }
    }

    /// A user at another network who logs in, and new users. Each answer takes the time of a hash, which has no fixed limit.
    func findings(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Finding] {
        for _ in 0..<3 {
            _ = try await client.answer(to: OneNetwork.logIn(Self.user, from: home), expecting: 201)
        }
        try await OneNetwork.signUpOthers(3, by: client)
        return []
    }
}
