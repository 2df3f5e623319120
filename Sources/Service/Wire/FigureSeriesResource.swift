/// The values of a figure, one for each period.
package struct FigureSeriesResource: Codable, Sendable {
    /// The app, product, storefront or origin. Nil without a group. Empty if the storefront is unknown.
    package var group: String?
    /// The ISO 4217 code. Nil if the figure is not money.
    package var currency: String?
    /// The values: counts, or milliunits of the currency. For a rate, the numerators.
    package let values: [Int64]
    /// The denominators of a rate.
    package var denominators: [Int64]?
    /// The parts of a movement: `new`, `resubscribed`, `changed` and `churned`.
    package var parts: [String: [Int64]]?
}
