/// A right with its definition, as administrators see it.
package struct CatalogRightResource: Codable, Sendable {
    package let name: String
    /// True if an administrator has set the definition. False if it is the file's.
    package let isAdministered: Bool
    /// The definition in the form of `Offerings.json`, without the name.
    package let definition: JSONContent
}
