import NIOCore

/// Attack 8: request heads that arrive one byte every 500 ms.
struct SlowLoris: Attack {
    let name = "8, slow loris"

    private static let newConnections = 300
    /// Connections that have sent one whole request before.
    private static let usedConnections = 100

    func start(by attacker: Attacker) async throws {
        let whole = ByteBuffer.request("GET", "/health/live")
        let drip = ByteBuffer.request("GET", "/health/live", fields: ["Padding": String(repeating: "x", count: 200)])
        attacker.hold(
            Self.newConnections + Self.usedConnections, openedEvery: .milliseconds(1), replacedAfter: .seconds(1)
        ) { number in
            DrippingHandler(opening: number < Self.newConnections ? ByteBuffer() : whole, drip: drip)
        }
    }
}
