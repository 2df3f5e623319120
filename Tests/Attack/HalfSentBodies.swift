import NIOCore

/// Attack 5: large bodies of one user that never end.
struct HalfSentBodies: Attack {
    let name = "5, half-sent bodies"
    let serviceOptions = ["--accounts"]

    private static let bodySize = 1_380_000

    func start(by attacker: Attacker) async throws {
        let token = try await attacker.client.signUp("halves").get()
        var request = ByteBuffer.request(
            "POST", "/v1/me/receipts",
            fields: [
                "Authorization": "Bearer \(token)", "Content-Type": "application/json",
                "Content-Length": String(Self.bodySize),
            ])
        // The body without its last byte costs the service the most memory.
        let beginning = "{\"receipt\":\""
        request.writeString(beginning)
        request.writeRepeatingByte(UInt8(ascii: "A"), count: Self.bodySize - beginning.utf8.count - 1)
        attacker.hold(250, openedEvery: .milliseconds(4), replacedAfter: .seconds(3)) { [request] _ in
            DrippingHandler(opening: request)
        }
    }
}
