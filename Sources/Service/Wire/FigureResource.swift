/// A figure that the service computes.
package struct FigureResource: Codable, Sendable {
    package let figure: String
    /// `sum`, `level`, `rate` or `movement`.
    package let kind: String
    /// True if the values are milliunits of a currency.
    package let isMoney: Bool
    package let definition: String
}
