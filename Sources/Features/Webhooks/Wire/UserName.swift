/// A user's name with its issuer.
package struct UserName: Codable, Sendable {
    /// The issuer. Empty if the team's own back end names the user.
    package let issuer: String
    package let name: String

    package init(issuer: String, name: String) {
        self.issuer = issuer
        self.name = name
    }
}
