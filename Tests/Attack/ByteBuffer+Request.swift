import NIOCore

extension ByteBuffer {
    /// A request of HTTP/1.1.
    ///
    /// - Parameters:
    ///   - path: The request target, sent byte by byte as given.
    ///   - json: The body; nil for a request without one.
    static func request(
        _ method: String,
        _ path: String,
        fields: KeyValuePairs<String, String> = [:],
        json: String? = nil
    ) -> ByteBuffer {
        let fields = fields.map { "\($0.key): \($0.value)" }
        let lengths = json.map { ["Content-Type: application/json", "Content-Length: \($0.utf8.count)"] } ?? []
        let lines = ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1"] + fields + lengths
        return ByteBuffer(string: lines.map { $0 + "\r\n" }.joined() + "\r\n" + (json ?? ""))
    }
}
