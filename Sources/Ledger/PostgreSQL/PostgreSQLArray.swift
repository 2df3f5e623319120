/// An array as an argument of a statement, in PostgreSQL's binary form (`array_recv`).
///
/// The argument has the type of the column's arrays: a spread database finds the shards of a statement only by such an argument.
/// In binary, the server refuses a text with a zero byte, which would end a text in libpq's text form.
struct PostgreSQLArray {
    private var bytes: [UInt8] = []

    /// - Throws: `PostgreSQLFailure` (22P02) if a value is of another kind.
    init(of kind: Table.Column.Kind, _ values: [SQLValue]) throws(PostgreSQLFailure) {
        self.init(of: kind, count: values.count)
        for value in values {
            switch (value, kind) {
            case (.null, _): append(Int32(-1))
            case (.integer(let number), .integer): append(element: number)
            case (.text(let text), .text): append(element: text)
            case (.blob(let blob), .blob):
                append(Int32(blob.count))
                bytes += blob
            default: throw PostgreSQLFailure(state: "22P02")
            }
        }
    }

    init(_ numbers: [Int64]) {
        self.init(of: .integer, count: numbers.count)
        for number in numbers { append(element: number) }
    }

    init(_ texts: [String]) {
        self.init(of: .text, count: texts.count)
        for text in texts { append(element: text) }
    }

    /// The array without its elements: one dimension that begins at 1 and may have nulls.
    private init(of kind: Table.Column.Kind, count: Int) {
        let (dimensions, hasNulls, firstIndex): (Int32, Int32, Int32) = (1, 1, 1)
        for number in [dimensions, hasNulls, Self.type(of: kind).number, Int32(count), firstIndex] { append(number) }
    }

    /// The argument. Binary values of all types are sent as bytes.
    var argument: SQLValue { .blob(bytes) }

    /// The SQL of a parameter for an array of a column's values.
    static func parameter(_ parameter: String, of kind: Table.Column.Kind) -> String {
        "CAST(\(parameter) AS \(type(of: kind).name)[])"
    }

    /// The type of a column, and its number (`pg_type.dat`).
    private static func type(of kind: Table.Column.Kind) -> (name: String, number: Int32) {
        switch kind {
        case .text: ("text", 25)
        case .integer: ("bigint", 20)
        case .blob: ("bytea", 17)
        }
    }

    private mutating func append(element number: Int64) {
        append(Int32(8))
        append(number)
    }

    private mutating func append(element text: String) {
        append(Int32(text.utf8.count))
        bytes += text.utf8
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }
}
