import Ledger
import Receipts

/// The columns of stated facts, one for each. They are null if the App Store has not stated the fact.
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

    /// The facts in a row, which may have other columns.
    ///
    /// - Parameter facts: The facts to read.
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
