/// An offering with its definition, as administrators see it.
public struct CatalogOfferingResource: Codable, Sendable {
    public let identifier: String
    /// True if apps show it unless they ask for another.
    public let isCurrent: Bool
    /// True if an administrator has set the definition. False if it is the file's.
    public let isAdministered: Bool
    /// The definition in the form of `Offerings.json`, without the identifier.
    public let definition: JSONContent

    public init(
        identifier: String,
        isCurrent: Bool,
        isAdministered: Bool,
        definition: JSONContent
    ) {
        self.identifier = identifier
        self.isCurrent = isCurrent
        self.isAdministered = isAdministered
        self.definition = definition
    }
}
