/// A user's name, and the issuer that gave it.
public struct UserName: Codable, Sendable {
    /// Empty for a user whom the team's own back end names.
    public let issuer: String
    public let name: String

    public init(issuer: String, name: String) {
        self.issuer = issuer
        self.name = name
    }
}
