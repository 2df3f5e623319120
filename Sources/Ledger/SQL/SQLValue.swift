import Foundation
import Proofs

package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    /// The identifier of a packed column.
    case packed(String)
    /// Several values as one argument. A column has none.
    case list(SQLList)
}

/// The values of an argument of `isIn(numbers:)`, `isIn` and `isIn(packed:)`.
package enum SQLList: Hashable, Sendable {
    case numbers([Int64])
    case texts([String])
    case packed([String])
}

/// A type that columns can store.
package protocol SQLConvertible {
    var sqlValue: SQLValue { get }

    /// - Returns: Nil for a value of another kind.
    init?(_ value: SQLValue)
}

/// A type with texts for raw values is stored as these texts.
extension SQLConvertible where Self: RawRepresentable<String> {
    package var sqlValue: SQLValue { .text(rawValue) }

    package init?(_ value: SQLValue) {
        guard let text = String(value) else { return nil }
        self.init(rawValue: text)
    }
}

extension SQLValue: SQLConvertible {
    package var sqlValue: SQLValue { self }

    package init?(_ value: SQLValue) {
        self = value
    }
}

extension Int64: SQLConvertible {
    package var sqlValue: SQLValue { .integer(self) }

    package init?(_ value: SQLValue) {
        guard case .integer(let number) = value else { return nil }
        self = number
    }
}

extension Int: SQLConvertible {
    package var sqlValue: SQLValue { .integer(Int64(self)) }

    package init?(_ value: SQLValue) {
        guard case .integer(let number) = value else { return nil }
        self.init(exactly: number)
    }
}

/// Stored as 0 or 1, because SQLite has no Boolean type.
extension Bool: SQLConvertible {
    package var sqlValue: SQLValue { .integer(self ? 1 : 0) }

    package init?(_ value: SQLValue) {
        guard case .integer(let number) = value else { return nil }
        self = number != 0
    }
}

extension String: SQLConvertible {
    package var sqlValue: SQLValue { .text(self) }

    /// - Parameter value: A text, or the bytes of one in a packed column of PostgreSQL.
    package init?(_ value: SQLValue) {
        switch value {
        case .text(let text), .packed(let text): self = text
        case .blob(let bytes):
            guard let text = PackedText.text(of: bytes) else { return nil }
            self = text
        case .null, .integer, .list: return nil
        }
    }
}

extension [UInt8]: SQLConvertible {
    package var sqlValue: SQLValue { .blob(self) }

    package init?(_ value: SQLValue) {
        guard case .blob(let bytes) = value else { return nil }
        self = bytes
    }
}

/// Stored as milliseconds since 1970.
extension Timestamp: SQLConvertible {
    package var sqlValue: SQLValue { .integer(millisecondsSince1970) }

    package init?(_ value: SQLValue) {
        guard case .integer(let number) = value else { return nil }
        self.init(millisecondsSince1970: number)
    }
}

/// Stored as a number, because each row of a purchase has it.
extension Origin: SQLConvertible {
    package var sqlValue: SQLValue { .integer(number) }

    package init?(_ value: SQLValue) {
        guard case .integer(let number) = value else { return nil }
        self.init(number: number)
    }
}

extension Collection<Origin> {
    /// The numbers of the origins in parentheses, for `IN`.
    package var sqlList: String { "(" + map(\.number).sorted().map { "\($0)" }.joined(separator: ", ") + ")" }
}

/// Stored in lowercase in a packed column.
extension UUID: SQLConvertible {
    package var sqlValue: SQLValue { .packed(lowercasedString) }

    package init?(_ value: SQLValue) {
        guard let text = String(value) else { return nil }
        self.init(uuidString: text)
    }
}

extension Optional: SQLConvertible where Wrapped: SQLConvertible {
    package var sqlValue: SQLValue { self?.sqlValue ?? .null }

    package init?(_ value: SQLValue) {
        if case .null = value {
            self = .none
        } else if let wrapped = Wrapped(value) {
            self = .some(wrapped)
        } else {
            return nil
        }
    }
}

extension Collection where Element: RawRepresentable<String> {
    /// The values in parentheses, for `IN`. They are sorted, so that the same values make the same statement.
    package var sqlList: String {
        "(" + map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ") + ")"
    }
}

package struct SQLQuery: Hashable, Sendable {
    package let sql: String
    package let arguments: [SQLValue]

    package init(_ sql: String, _ arguments: [any SQLConvertible] = []) {
        self.sql = sql
        self.arguments = arguments.map(\.sqlValue)
    }
}
