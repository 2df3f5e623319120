/// An offering with its definition, as administrators see it.
package struct CatalogOfferingResource: Codable, Sendable {
    package let identifier: String
    /// True if apps show it unless they ask for another.
    package let isCurrent: Bool
    /// True if an administrator has set the definition. False if it is the file's.
    package let isAdministered: Bool
    /// The definition in the form of `Offerings.json`, without the identifier.
    package let definition: JSONContent
}
