import NIOCore

/// Attack 11: many addresses with one public key, each of which sends as many requests as it may.
struct SharedPublicKey: Attack {
    let name = "11, one public key at 150 addresses"
    let serviceOptions = DoorRequests.serviceOptions
    let addressCount = 150
    let duration = Duration.seconds(8)

    private static let reader = "reader"

    /// A customer at another address who buys and reads.
    func probes(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Probe] {
        [
            try .purchase(fixture) { _ in Self.reader },
            Probe("customer", every: .milliseconds(250), expecting: 200, [fixture.door.customer(Self.reader)]),
        ]
    }

    func start(by attacker: Attacker) async throws {
        let door = attacker.door
        // A limit of the key would be used up soonest by the cheapest request.
        let requests =
            Array(repeating: door.configuration, count: 8)
            + [door.get("/v1/product_entitlement_mapping"), door.customer(Self.reader)]
        attacker.hold(addressCount, openedEvery: .milliseconds(2), replacedAfter: .seconds(1)) { number in
            RepeatingHandler(first: number) { requests[$0 % requests.count] }
        }
    }
}
