import Proofs

/// The data of a member who signed up in the seed app, without the nickname.
package struct MemberRecord: Hashable, Sendable {
    package let phoneNumber: String
    package let email: String
    /// The registration token of Firebase Cloud Messaging.
    package let fcmToken: String
    /// The date of birth in the app's format.
    package let birth: String
    /// The gender in the app's numbers: 0 for women, 1 for men, -1 if not stated.
    package let gender: Int
    package let joinedAt: Timestamp

    package init(
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
