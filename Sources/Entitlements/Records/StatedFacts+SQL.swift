import Ledger
import Receipts

/// The columns of stated facts: one for each, null where it was not stated.
extension StatedFacts {
    static var columns: [String] { Fact.allCases.map(\.rawValue) }

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

    /// The facts in a row that has other columns, too.
    init(_ row: SQLRow) {
        var values: [Fact: StatedValue] = [:]
        for (column, value) in zip(row.columns, row.values) {
            guard let fact = Fact(rawValue: column) else { continue }
            switch value {
            case .integer(let number): values[fact] = .integer(number)
            case .text(let text): values[fact] = .text(text)
            case .null, .blob: break
            }
        }
        self.init(values)
    }
}
