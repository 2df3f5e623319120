import Ledger
import Proofs

/// The columns of stated facts, one for each. A column is null if the App Store has not stated the fact.
extension StatedFacts {
    static var columns: [Table.Column] {
        Fact.allCases.map { fact in
            let field = fact.field
            return switch field.kind {
            case .text, .token, .texts, .object: .text(field.column).optional
            case .integer, .bool, .date: .integer(field.column).optional
            }
        }
    }

    static var columnNames: [String] { Fact.allCases.map { $0.field.column } }

    /// The values of the columns, in their order.
    var sqlValues: [any SQLConvertible] {
        Fact.allCases.map { fact in
            switch self[fact] {
            case .integer(let number): SQLValue.integer(number)
            case .text(let text): SQLValue.text(text)
            case nil: SQLValue.null
            }
        }
    }

    /// The facts in a row, which may have other columns.
    ///
    /// - Parameter facts: The facts to read; nil for all.
    init(_ row: SQLRow, _ facts: [Fact]? = nil) {
        var values: [Fact: StatedValue] = [:]
        for (column, value) in zip(row.columns, row.values) {
            guard let fact = Fact.byColumn[column], facts?.contains(fact) ?? true else { continue }
            switch value {
            case .integer(let number): values[fact] = .integer(number)
            case .text(let text): values[fact] = .text(text)
            case .null, .blob: break
            }
        }
        self.init(values)
    }
}
