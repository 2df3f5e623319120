/// A selection of products that an app shows together.
public struct OfferingResource: Codable, Sendable {
    public let identifier: String
    public let description: String
    /// Values for the app. Nil for none.
    public let metadata: JSONContent?
    /// The packages whose products are for sale, in the order in which the app shows them.
    public let packages: [PackageResource]

    public init(
        identifier: String,
        description: String,
        metadata: JSONContent? = nil,
        packages: [PackageResource]
    ) {
        self.identifier = identifier
        self.description = description
        self.metadata = metadata
        self.packages = packages
    }
}
