/// The administered rights and offerings of an app. They take precedence over the file.
package struct OfferingChanges: Sendable {
    /// The rights, in the order of their creation.
    package var rights: [Right] = []
    /// The offerings, in the order of their creation.
    package var offerings: [Offering] = []
    /// The identifier of the current offering; nil if the file defines it.
    package var currentOffering: String?

    package init() {}
}
