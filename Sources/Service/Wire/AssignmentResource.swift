import Features

/// An unclaimed purchase that the team has assigned to a user.
public struct AssignmentResource: Codable, Sendable {
    public let transactionId: String
    public let user: UserName
    /// The result in the words of a redemption: `granted`, `alreadyRedeemed` or `revoked`.
    public let result: String

    public init(
        transactionId: String,
        user: UserName,
        result: String
    ) {
        self.transactionId = transactionId
        self.user = user
        self.result = result
    }
}
