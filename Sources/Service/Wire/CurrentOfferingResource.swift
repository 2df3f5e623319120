/// The offering that apps show unless they ask for another.
package struct CurrentOfferingResource: Codable, Sendable {
    /// Nil if there is none.
    package var identifier: String?
    /// True if an administrator has chosen it. False if the file has.
    package let isAdministered: Bool
}
