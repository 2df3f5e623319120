/// The rights that a user has.
package struct UserRightList: Codable, Sendable {
    package let rights: [UserRightResource]
}
