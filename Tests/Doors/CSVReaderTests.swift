import Foundation
import Proofs
import Service
import TestSupport
import Testing

/// The reader of comma-separated values.
@Suite struct CSVReaderTests {
    /// Reads all records of a text.
    ///
    /// - Parameter size: The number of bytes read at once.
    private static func records(
        _ bytes: [UInt8],
        size: Int = 3,
        limits: CSVReader.Limits = CSVReader.Limits()
    ) throws -> [CSVReader.Record] {
        var rest = bytes[...]
        var reader = CSVReader(limits: limits) {
            defer { rest = rest.dropFirst(size) }
            return Data(rest.prefix(size))
        }
        var records: [CSVReader.Record] = []
        while let record = try reader.next() { records.append(record) }
        return records
    }

    @Test(
        arguments: [
            ("", []),
            ("a,b\n", [["a", "b"]]),
            ("a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]]),
            ("a,b\nc,d", [["a", "b"], ["c", "d"]]),
            ("\u{FEFF}a,b\n", [["a", "b"]]),
            (",\n", [["", ""]]),
            ("a,\"\"\n", [["a", ""]]),
            ("\"\"", [[""]]),
            ("\"a,\"\"b\"\"\",\"c\r\nd\"\n", [["a,\"b\"", "c\r\nd"]]),
            ("\n", [[""]]),
            ("\u{1F331},\u{AC00}\n", [["\u{1F331}", "\u{AC00}"]]),
        ] as [(String, [[String]])])
    func `records follow RFC 4180`(text: String, fields: [[String]]) throws {
        for size in [3, 4, 7, 1000] {
            #expect(try Self.records(Array(text.utf8), size: size).map(\.fields) == fields)
        }
    }

    @Test(arguments: [
        ("a\nb\"c\n", ExportFileError.quoteInvalid(line: 2)),
        ("\"a\"b\n", .quoteInvalid(line: 1)),
        ("a\n\"b\n\nc", .quoteOpen(line: 2)),
        ("a\rb\n", .lineEndInvalid(line: 1)),
        ("a\r", .lineEndInvalid(line: 1)),
    ])
    func `other bytes stop the reader`(text: String, error: ExportFileError) {
        #expect(throws: error) { try Self.records(Array(text.utf8)) }
    }

    @Test func `a record beyond a limit is returned without fields, and the next ones are read`() throws {
        var limits = CSVReader.Limits()
        (limits.field, limits.record, limits.fields) = (4, 12, 3)
        let text = "abcd,e\nabcde,f\n\"abcd\n\",x\na,b,c,d\nabcd,abcd,abc\nlast\n"
        let records = try Self.records(Array(text.utf8), limits: limits)
        #expect(records.map(\.problem) == [nil, .fieldTooLong, .fieldTooLong, .tooManyFields, .recordTooLong, nil])
        #expect(records.map(\.line) == [1, 2, 3, 5, 6, 7])
        #expect(records.first?.fields == ["abcd", "e"] && records.last?.fields == ["last"])
        #expect(records.dropFirst().dropLast().allSatisfy { $0.fields.isEmpty })
    }

    @Test func `a field must be UTF-8`() throws {
        let records = try Self.records(Array("a,".utf8) + [0xC0, 0x80, UInt8(ascii: "\n")] + Array("b,c\n".utf8))
        #expect(records.map(\.problem) == [.notUTF8, nil])
        #expect(records.last?.fields == ["b", "c"])
    }

    @Test func `any fields survive their notation`() throws {
        let dice = Dice(seed: 4180)
        let pieces = ["a", ",", "\"", "\n", "\r\n", "\u{1F331}", " "]
        for _ in 0..<200 {
            let records = (0...dice.number(below: 5)).map { _ in
                (0...dice.number(below: 4)).map { _ in
                    (0..<dice.number(below: 5)).compactMap { _ in dice.pick(pieces) }.joined()
                }
            }
            let text = records.map { record in
                record.map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }.joined(separator: ",") + "\r\n"
            }.joined()
            let size = 3 + dice.number(below: 9)
            #expect(try Self.records(Array(text.utf8), size: size).map(\.fields) == records)
        }
    }
}
