/// The offerings of an app.
public struct OfferingList: Codable, Sendable {
    /// The identifier of the offering that the app shows unless it asks for another. Nil for none.
    public let currentOffering: String?
    public let offerings: [OfferingResource]

    public init(currentOffering: String? = nil, offerings: [OfferingResource]) {
        self.currentOffering = currentOffering
        self.offerings = offerings
    }
}
