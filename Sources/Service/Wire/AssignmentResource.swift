import Features

/// An unclaimed purchase that the team has assigned to a user.
package struct AssignmentResource: Codable, Sendable {
    package let transactionId: String
    package let user: UserName
    /// The result in the words of a redemption: `granted`, `alreadyRedeemed` or `revoked`.
    package let result: String
}
