/// PostgreSQL's literals of arrays ("Array Input and Output Syntax").
enum PostgreSQLArray {
    static func literal(of values: [SQLValue]) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "{")]
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            switch value {
            case .null: bytes += "NULL".utf8
            case .integer(let number): bytes += String(number).utf8
            case .text(let text): append(quoted: text.utf8, to: &bytes)
            case .blob(let blob): append(quoted: ("\\x" + blob.hexadecimal).utf8, to: &bytes)
            }
        }
        bytes.append(UInt8(ascii: "}"))
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func append(quoted text: String.UTF8View, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// The type of an array of a column's values.
    static func type(of kind: Table.Column.Kind) -> String {
        switch kind {
        case .text: "text[]"
        case .integer: "bigint[]"
        case .blob: "bytea[]"
        }
    }
}
