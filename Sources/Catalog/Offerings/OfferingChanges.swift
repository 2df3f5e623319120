/// The administered rights and offerings of an app. They take precedence over the file.
public struct OfferingChanges: Sendable {
    /// The rights, in the order of their creation.
    public var rights: [Right] = []
    /// The offerings, in the order of their creation.
    public var offerings: [Offering] = []
    /// The identifier of the current offering; nil if the file defines it.
    public var currentOffering: String?

    public init() {}
}
