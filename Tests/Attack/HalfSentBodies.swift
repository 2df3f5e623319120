import NIOCore

/// Attack 5: large bodies of one user that never end.
struct HalfSentBodies: Attack {
    let name = "5, half-sent bodies"
    let serviceOptions = ["--accounts"]

    private static let bodySize = 1_380_000

    func start(by attacker: Attacker) async throws {
        let token = try await attacker.client.signUp("halves").get()
        let request = Self.request("/v1/me/receipts", ["Authorization": "Bearer \(token)"], "receipt")
        attacker.hold(250, openedEvery: .milliseconds(4), replacedAfter: .seconds(3)) { _ in
            DrippingHandler(opening: request)
        }
    }

    /// A request whose body lacks its last byte, which costs the service the most memory.
    static func request(
        _ path: String, _ fields: KeyValuePairs<String, String>, _ member: String, size: Int = bodySize
    ) -> ByteBuffer {
        let beginning = "{\"\(member)\":\""
        let body = beginning + String(repeating: "A", count: size - beginning.utf8.count)
        var request = ByteBuffer.request("POST", path, fields: fields, json: body)
        request.moveWriterIndex(to: request.writerIndex - 1)
        return request
    }
}

/// Attack 15: large bodies with the app's public key that never end, from many addresses of one network.
struct HalfSentBodiesOfNetwork: Attack {
    let name = "15, half-sent bodies from one network"
    let serviceOptions = OneNetwork.serviceOptions + DoorRequests.serviceOptions

    /// All of them together are more than the service holds.
    private static let bodySize = 400_000

    /// Purchases at other networks, with attributes that make their bodies larger than the part that is always free.
    func probes(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Probe] {
        let attributes = DoorRequests.attributes(20, nameSize: 2, valueSize: 2000)
        let requests = try (0..<60).map { number in
            fixture.door.from(OneNetwork.other(number)).receipt(
                try AttackFixture.transaction(1000 + number), of: "payer-\(number)", attributes: attributes)
        }
        return [Probe("large purchase", every: .milliseconds(500), expecting: 200, requests)]
    }

    func start(by attacker: Attacker) async throws {
        let key = attacker.door.key
        attacker.hold(250, openedEvery: .milliseconds(4), replacedAfter: .seconds(3)) { number in
            DrippingHandler(
                opening: HalfSentBodies.request(
                    "/v1/receipts",
                    ["Authorization": "Bearer \(key)", "X-Forwarded-For": OneNetwork.address(number)], "fetch_token",
                    size: Self.bodySize))
        }
    }
}
