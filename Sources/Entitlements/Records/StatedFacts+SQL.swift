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
    ///
    /// - Parameter facts: Those that are read.
    init(_ row: SQLRow, _ facts: [Fact] = Array(Fact.allCases)) {
        var values: [Fact: StatedValue] = [:]
        for (column, value) in zip(row.columns, row.values) {
            guard let fact = facts.first(where: { $0.rawValue == column }) else { continue }
            switch value {
            case .integer(let number): values[fact] = .integer(number)
            case .text(let text): values[fact] = .text(text)
            case .null, .blob: break
            }
        }
        self.init(values)
    }
}
