import Proofs

/// A cell of an export.
enum ExportValue: Hashable, Sendable {
    case null
    case text(String)
    case integer(Int64)
    case bool(Bool)
    /// RFC 3339, UTC.
    case date(Timestamp)
    /// Milliunits, which are exported as units.
    case amount(Int64)

    static func text(_ text: String?) -> ExportValue { text.map { .text($0) } ?? .null }

    static func date(_ date: Timestamp?) -> ExportValue { date.map { .date($0) } ?? .null }

    static func amount(_ amount: Int64?) -> ExportValue { amount.map { .amount($0) } ?? .null }

    static func integer(_ number: Int64?) -> ExportValue { number.map { .integer($0) } ?? .null }
}
