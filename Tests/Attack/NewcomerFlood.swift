import NIOCore

/// Attack 14: attributes of invented customers and sign-ups from one network, as many bytes as it may write for newcomers.
struct NewcomerFlood: Attack {
    let name = "14, newcomers from one network"
    let serviceOptions = OneNetwork.serviceOptions + DoorRequests.serviceOptions + ["--accounts"]

    /// The attributes of the attacker's customers, in bytes. The small ones take what is left after the large ones.
    private static let attributes = [(25, 2000), (5, 2000), (1, 2000), (1, 100), (1, 1)].map { count, size in
        DoorRequests.attributes(count, nameSize: 2, valueSize: size)
    }

    /// New customers at other networks.
    func probes(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Probe] {
        let attributes = DoorRequests.attributes(1, nameSize: 1, valueSize: 10)
        let requests = (0..<60).map { number in
            fixture.door.from(OneNetwork.other(number)).attributes(attributes, of: "customer-\(number)")
        }
        return [Probe("new customer", every: .milliseconds(250), expecting: 200, requests)]
    }

    func start(by attacker: Attacker) async throws {
        let door = attacker.door
        attacker.hold(16, openedEvery: .milliseconds(5), replacedAfter: .milliseconds(100)) { number in
            RepeatingHandler(pause: .milliseconds(5)) { turn in
                door.from(OneNetwork.address(number + 16 * turn))
                    .attributes(Self.attributes[turn % Self.attributes.count], of: DoorRequests.anonymous())
            }
        }
    }

    /// New users at other networks.
    func findings(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Finding] {
        try await OneNetwork.signUpOthers(5, by: client)
        return []
    }
}
