import Foundation
import Proofs

/// A reader of comma-separated values (RFC 4180) that holds one record at a time.
///
/// Lines end with CRLF or LF. A byte order mark at the beginning is skipped.
package struct CSVReader {
    /// The limits of a record. A record beyond them is skipped, and returned with its problem.
    package struct Limits: Sendable {
        /// The maximum length of a field, in bytes.
        package var field = 256 << 10
        /// The maximum length of a record, in bytes.
        package var record = 1 << 20
        /// The maximum number of fields of a record.
        package var fields = 256

        package init() {}
    }

    /// A record, such as the header or a row.
    package struct Record: Hashable, Sendable {
        /// The number of its first line, from 1.
        package let line: Int
        package let fields: [String]
        /// The reason why the fields are incomplete; nil if they are complete.
        package let problem: Problem?
    }

    package enum Problem: String, Sendable {
        case fieldTooLong = "a field is too long"
        case recordTooLong = "the record is too long"
        case tooManyFields = "the record has too many fields"
        case notUTF8 = "a field is not UTF-8"
    }

    private enum State {
        case fieldStart
        case unquoted
        case quoted
        /// After a quote inside a quoted field: the end of the field, or the first of two quotes.
        case quote
        case carriageReturn
    }

    private let read: () throws -> Data
    private let limits: Limits
    private var chunk: [UInt8] = []
    private var position = 0
    private var line = 1
    private var isAtStart = true

    /// - Parameter read: Returns the next bytes; empty at the end.
    package init(limits: Limits = Limits(), read: @escaping () throws -> Data) {
        self.limits = limits
        self.read = read
    }

    /// - Returns: Nil at the end.
    /// - Throws: `ExportFileError` for bytes that are not comma-separated values, after which no record can be trusted; the
    ///   errors of `read`.
    package mutating func next() throws -> Record? {
        var state = State.fieldStart
        var draft = Draft(line: line, limits: limits)
        while let byte = try nextByte() {
            if state == .carriageReturn, byte != UInt8(ascii: "\n") { throw ExportFileError.lineEndInvalid(line: line) }
            switch (state, byte) {
            case (.quoted, UInt8(ascii: "\"")): state = .quote
            case (.quoted, _):
                if byte == UInt8(ascii: "\n") { line += 1 }
                draft.append(byte)
            case (.quote, UInt8(ascii: "\"")):
                draft.append(byte)
                state = .quoted
            case (.fieldStart, UInt8(ascii: "\"")): state = .quoted
            case (_, UInt8(ascii: ",")):
                draft.endField()
                state = .fieldStart
            case (_, UInt8(ascii: "\r")): state = .carriageReturn
            case (_, UInt8(ascii: "\n")):
                line += 1
                return draft.record()
            case (.quote, _), (.unquoted, UInt8(ascii: "\"")): throw ExportFileError.quoteInvalid(line: line)
            default:
                draft.append(byte)
                state = .unquoted
            }
        }
        guard state != .quoted else { throw ExportFileError.quoteOpen(line: draft.line) }
        guard state != .carriageReturn else { throw ExportFileError.lineEndInvalid(line: line) }
        return draft.isEmpty && state == .fieldStart ? nil : draft.record()
    }

    private mutating func nextByte() throws -> UInt8? {
        while position == chunk.count {
            (chunk, position) = ([UInt8](try read()), 0)
            guard !chunk.isEmpty else { return nil }
            if isAtStart {
                isAtStart = false
                // The first chunk has at least the length of the mark.
                if chunk.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
            }
        }
        defer { position += 1 }
        return chunk[position]
    }

    /// A record whose end is not read yet.
    private struct Draft {
        let line: Int
        let limits: Limits
        var fields: [String] = []
        var field: [UInt8] = []
        var count = 0
        var problem: Problem?

        var isEmpty: Bool { count == 0 }

        mutating func append(_ byte: UInt8) {
            count += 1
            guard problem == nil else { return }
            if count > limits.record {
                fail(.recordTooLong)
            } else if field.count == limits.field {
                fail(.fieldTooLong)
            } else {
                field.append(byte)
            }
        }

        mutating func endField() {
            count += 1
            guard problem == nil else { return }
            guard fields.count < limits.fields else { return fail(.tooManyFields) }
            guard let text = String(strictUTF8: field[...]) else { return fail(.notUTF8) }
            fields.append(text)
            field.removeAll(keepingCapacity: true)
        }

        private mutating func fail(_ problem: Problem) {
            self.problem = problem
            fields = []
            field = []
        }

        mutating func record() -> Record {
            endField()
            return Record(line: line, fields: fields, problem: problem)
        }
    }
}
