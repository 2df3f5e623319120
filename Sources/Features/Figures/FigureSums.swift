/// Sums by their keys. Sums of zero are left out.
package struct FigureSums: Hashable, Sendable {
    package private(set) var amounts: [FigureKey: Int64] = [:]

    package init() {}

    package mutating func add(_ amount: Int64, to key: FigureKey) {
        let sum = amounts[key, default: 0] &+ amount
        amounts[key] = sum == 0 ? nil : sum
    }

    /// Adds or subtracts other sums.
    package mutating func add(_ other: FigureSums, times factor: Int64 = 1) {
        for (key, amount) in other.amounts { add(amount &* factor, to: key) }
    }
}
