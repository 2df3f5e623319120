import Proofs

/// The data of a member who signed up in the seed app, without the nickname.
public struct MemberRecord: Hashable, Sendable {
    public let phoneNumber: String
    public let email: String
    /// The registration token of Firebase Cloud Messaging.
    public let fcmToken: String
    /// The date of birth in the app's format.
    public let birth: String
    /// The gender in the app's numbers: 0 for women, 1 for men, -1 if not stated.
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
