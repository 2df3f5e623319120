/// The arguments of a prepared statement in libpq's form. Numbers are sent as text, all other values in binary.
struct PostgreSQLArguments {
    private var bytes: [UInt8] = []
    /// The offset of each argument in `bytes`; nil for null.
    private var offsets: [Int?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    init(_ arguments: [SQLValue]) {
        for argument in arguments {
            let start = bytes.count
            var isBinary = true
            switch argument {
            case .null: break
            case .integer(let number):
                bytes += String(number).utf8
                isBinary = false
            case .text(let text): bytes += text.utf8
            case .blob(let blob): bytes += blob
            }
            offsets.append(argument == .null ? nil : start)
            lengths.append(Int32(bytes.count - start))
            formats.append(isBinary ? 1 : 0)
            // A text ends with a zero byte. An empty value needs an address, too.
            bytes.append(0)
        }
    }

    /// - Parameter body: Receives the number of arguments, and their values, lengths and formats. The pointers are valid until
    ///   it returns.
    func withPointers<Value>(
        _ body: (Int32, [UnsafePointer<CChar>?], [Int32], [Int32]) -> Value
    ) -> Value {
        bytes.withUnsafeBytes { buffer in
            let start = buffer.bindMemory(to: CChar.self).baseAddress
            let values = offsets.map { offset in offset.flatMap { offset in start.map { $0 + offset } } }
            return body(Int32(values.count), values, lengths, formats)
        }
    }
}
