/// The offerings of an app.
package struct OfferingList: Codable, Sendable {
    /// The identifier of the offering that the app shows unless it asks for another. Nil for none.
    package var currentOffering: String?
    package let offerings: [OfferingResource]
}
