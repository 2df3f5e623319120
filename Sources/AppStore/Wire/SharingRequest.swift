/// A request to share a sale with a family member.
public struct SharingRequest: Codable, Sendable {
    /// The family member.
    public let account: String

    public init(account: String) {
        self.account = account
    }
}
