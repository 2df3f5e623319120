import NIOCore
import Proofs

/// Attack 6: many users from one address, each with as many event streams as a user may have.
struct StreamHoard: Attack {
    let name = "6, event streams"
    let serviceOptions = ["--accounts", "--live-events"]
    /// The preceding sign-ups also take some seconds.
    let duration = Duration.seconds(5)

    private static let users = 27
    private static let streamsOfUser = 20

    /// The request for a stream, whose connection closes with the stream.
    private static func request(_ token: String) -> ByteBuffer {
        .request("GET", "/v1/me/events", fields: ["Authorization": "Bearer \(token)", "Connection": "close"])
    }

    /// A listener with an address of its own.
    func probes(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Probe] {
        let token = try await client.signUp("listener").get()
        return [
            Probe("stream", every: .milliseconds(500), expecting: 200, until: .beginning, [Self.request(token)])
        ]
    }

    func start(by attacker: Attacker) async throws {
        for number in 0..<Self.users {
            let request = Self.request(try await attacker.client.signUp("hoarder\(number)").get())
            attacker.hold(Self.streamsOfUser, openedEvery: .milliseconds(5), replacedAfter: .seconds(1)) { _ in
                StreamHandler(request)
            }
        }
    }
}
