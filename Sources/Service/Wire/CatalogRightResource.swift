/// A right with its definition, as administrators see it.
public struct CatalogRightResource: Codable, Sendable {
    public let name: String
    /// True if an administrator has set the definition. False if it is the file's.
    public let isAdministered: Bool
    /// The definition in the form of `Offerings.json`, without the name.
    public let definition: JSONContent

    public init(
        name: String,
        isAdministered: Bool,
        definition: JSONContent
    ) {
        self.name = name
        self.isAdministered = isAdministered
        self.definition = definition
    }
}
