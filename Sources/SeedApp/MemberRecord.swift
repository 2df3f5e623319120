import Commerce

/// What somebody has told who has signed up in the seed's own app, besides their nickname.
public struct MemberRecord: Hashable, Sendable {
    public let phoneNumber: String
    public let email: String
    /// Firebase Cloud Messaging's name for the device.
    public let fcmToken: String
    /// As the app writes it.
    public let birth: String
    /// In the app's numbers: 0 for women, 1 for men, -1 for who did not say.
    public let gender: Int
    public let joinedAt: Timestamp

    public init(
        phoneNumber: String,
        email: String,
        fcmToken: String,
        birth: String,
        gender: Int,
        joinedAt: Timestamp
    ) {
        self.phoneNumber = phoneNumber
        self.email = email
        self.fcmToken = fcmToken
        self.birth = birth
        self.gender = gender
        self.joinedAt = joinedAt
    }
}
