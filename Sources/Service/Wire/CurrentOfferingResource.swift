/// The offering that apps show unless they ask for another.
public struct CurrentOfferingResource: Codable, Sendable {
    /// Nil if there is none.
    public let identifier: String?
    /// True if an administrator has chosen it. False if the file has.
    public let isAdministered: Bool

    public init(identifier: String? = nil, isAdministered: Bool) {
        self.identifier = identifier
        self.isAdministered = isAdministered
    }
}
