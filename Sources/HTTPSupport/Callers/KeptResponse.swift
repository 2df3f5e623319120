/// A response in the ledger's form: a line with the status and the content type, then the body.
struct KeptResponse {
    let status: Int
    let contentType: String
    let body: ArraySlice<UInt8>

    init(status: Int, contentType: String, body: ArraySlice<UInt8>) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// Nil if the bytes have another form.
    init?(_ bytes: [UInt8]) {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let words = bytes[..<end].split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard words.count == 2, let status = Int(String(decoding: words[0], as: UTF8.self)) else { return nil }
        self.init(
            status: status, contentType: String(decoding: words[1], as: UTF8.self), body: bytes[(end + 1)...])
    }

    var bytes: [UInt8] { Array("\(status) \(contentType)\n".utf8) + body }
}
