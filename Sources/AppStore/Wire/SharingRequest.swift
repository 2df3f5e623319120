/// A request to share a sale with a family member.
struct SharingRequest: Codable, Sendable {
    /// The family member.
    let account: String
}
