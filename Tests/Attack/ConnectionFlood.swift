import NIOCore

/// Attack 4: more connections than the service has, each of which sends one byte.
struct ConnectionFlood: Attack {
    let addressCount: Int

    var name: String { "4, connection flood from \(addressCount == 1 ? "one address" : "\(addressCount) addresses")" }

    func start(by attacker: Attacker) async throws {
        let byte = ByteBuffer(string: "G")
        attacker.hold(1030, openedEvery: .microseconds(500), replacedAfter: .seconds(1)) { _ in
            DrippingHandler(opening: byte)
        }
    }
}
