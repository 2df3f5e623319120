import Commerce
import Foundation

/// A value as a database has it.
public enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])
}

/// What can be written into a column, and read from one.
public protocol SQLConvertible {
    var sqlValue: SQLValue { get }

    /// - Returns: nil for a value of another kind.
    init?(_ value: SQLValue)
}

extension SQLValue: SQLConvertible {
    public var sqlValue: SQLValue { self }

    public init?(_ value: SQLValue) {
        self = value
    }
}

extension Int64: SQLConvertible {
    public var sqlValue: SQLValue { .integer(self) }

    public init?(_ value: SQLValue) {
        guard case .integer(let number) = value else { return nil }
        self = number
    }
}

extension Int: SQLConvertible {
    public var sqlValue: SQLValue { .integer(Int64(self)) }

    public init?(_ value: SQLValue) {
        guard case .integer(let number) = value else { return nil }
        self.init(exactly: number)
    }
}

/// 0 or 1: not every database has a type of its own for it.
extension Bool: SQLConvertible {
    public var sqlValue: SQLValue { .integer(self ? 1 : 0) }

    public init?(_ value: SQLValue) {
        guard case .integer(let number) = value else { return nil }
        self = number != 0
    }
}

extension String: SQLConvertible {
    public var sqlValue: SQLValue { .text(self) }

    public init?(_ value: SQLValue) {
        guard case .text(let text) = value else { return nil }
        self = text
    }
}

extension [UInt8]: SQLConvertible {
    public var sqlValue: SQLValue { .blob(self) }

    public init?(_ value: SQLValue) {
        guard case .blob(let bytes) = value else { return nil }
        self = bytes
    }
}

/// Milliseconds since 1970.
extension Timestamp: SQLConvertible {
    public var sqlValue: SQLValue { .integer(millisecondsSince1970) }

    public init?(_ value: SQLValue) {
        guard case .integer(let number) = value else { return nil }
        self.init(millisecondsSince1970: number)
    }
}

extension Origin: SQLConvertible {
    public var sqlValue: SQLValue { .text(rawValue) }

    public init?(_ value: SQLValue) {
        guard case .text(let text) = value else { return nil }
        self.init(rawValue: text)
    }
}

/// In lowercase.
extension UUID: SQLConvertible {
    public var sqlValue: SQLValue { .text(lowercasedString) }

    public init?(_ value: SQLValue) {
        guard case .text(let text) = value else { return nil }
        self.init(uuidString: text)
    }
}

extension Optional: SQLConvertible where Wrapped: SQLConvertible {
    public var sqlValue: SQLValue { self?.sqlValue ?? .null }

    public init?(_ value: SQLValue) {
        if case .null = value {
            self = .none
        } else if let wrapped = Wrapped(value) {
            self = .some(wrapped)
        } else {
            return nil
        }
    }
}
