/// The values of a figure, one for each period.
public struct FigureSeriesResource: Codable, Sendable {
    /// The app, product, storefront or origin. Nil without a group. Empty if the storefront is unknown.
    public let group: String?
    /// The ISO 4217 code. Nil if the figure is not money.
    public let currency: String?
    /// The values: counts, or milliunits of the currency. For a rate, the numerators.
    public let values: [Int64]
    /// The denominators of a rate.
    public let denominators: [Int64]?
    /// The parts of a movement: `new`, `resubscribed`, `changed` and `churned`.
    public let parts: [String: [Int64]]?

    public init(
        group: String? = nil,
        currency: String? = nil,
        values: [Int64],
        denominators: [Int64]? = nil,
        parts: [String: [Int64]]? = nil
    ) {
        self.group = group
        self.currency = currency
        self.values = values
        self.denominators = denominators
        self.parts = parts
    }
}
