/// A user's name with its issuer.
public struct UserName: Codable, Sendable {
    /// The issuer. Empty if the team's own back end names the user.
    public let issuer: String
    public let name: String

    public init(issuer: String, name: String) {
        self.issuer = issuer
        self.name = name
    }
}
