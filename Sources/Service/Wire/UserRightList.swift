/// The rights that a user has.
public struct UserRightList: Codable, Sendable {
    public let rights: [UserRightResource]

    public init(rights: [UserRightResource]) {
        self.rights = rights
    }
}
