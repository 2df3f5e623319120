/// A selection of products that an app shows together.
package struct OfferingResource: Codable, Sendable {
    package let identifier: String
    package let description: String
    /// Values for the app. Nil for none.
    package var metadata: JSONContent?
    /// The packages whose products are for sale, in the order in which the app shows them.
    package let packages: [PackageResource]
}
