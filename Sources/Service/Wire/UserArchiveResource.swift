import Features
import Proofs

/// All data of one user.
package struct UserArchiveResource: Codable, Sendable {
    /// A session of the user on a device.
    package struct Session: Codable, Sendable {
        let beganAt: String
        package let endsAt: String
    }

    /// A mail about the account. Its text is not kept.
    package struct Mail: Codable, Sendable {
        /// `verification`, `reset`, `addressChange` or `newAddress`.
        package let purpose: String
        /// The recipient.
        package let email: String
        let askedAt: String
        /// The date of sending. Nil if the mail was not sent.
        package var sentAt: String?
    }

    /// A product on the user's wish list.
    package struct Wish: Codable, Sendable {
        package let productId: String
        package let wishedAt: String
    }

    /// The user's details in the seed's own app.
    package struct Member: Codable, Sendable {
        let phoneNumber: String
        package let email: String
        let fcmToken: String
        let birth: String
        let gender: Int
        let joinedAt: String
    }

    /// An entry of the user's audit log.
    package struct Event: Codable, Sendable {
        package let happenedAt: String
        package let event: String
        package let actor: String
        /// The name of the API key; nil for another actor, if the ledger does not have the key, and for the user's own app.
        package var actorName: String?
        package var origin: Origin?
        package let reference: String
        package let subject: String
        package var reason: String?
    }

    /// A purchase that an import expects, and that nobody has proved.
    package struct ExpectedPurchase: Codable, Sendable {
        package let originalTransactionId: String
        package let origin: Origin
        package let bundleId: String
        package let productId: String
        package let purchaseDate: String
        package let expiresAt: String?
    }

    /// Dates are RFC 3339, UTC.
    let exportedAt: String
    package let user: UserName
    let firstSeenAt: String
    package let appAccountToken: String
    /// The ids that became the user's by log-ins. Nil if there are none.
    package var aliases: [UserName]?
    /// The account. Nil if the user has none with the service.
    package var account: AccountResource?
    /// The sessions, newest first.
    package let sessions: [Session]
    /// The mails of the last days, oldest first. Nil if there are none.
    package var mails: [Mail]?
    /// The member. Nil if the user has not signed up in the seed's own app.
    package var member: Member?
    /// The attributes, in the order of their names.
    package let attributes: [AttributeResource]
    /// The nickname. Nil until the user chooses one.
    package var nickname: String?
    /// The choice in each collection, owned or not.
    package let chosen: [Item]
    package let wishes: [Wish]
    package let items: [Item]
    package let transactions: [TransactionResource]
    /// The purchases that an import expects. Nil if there are none.
    package var expectedPurchases: [ExpectedPurchase]?
    /// The last statements about the renewal of each subscription.
    let renewalInfos: [RenewalInfoResource]
    package let grants: [GrantResource]
    package let balances: [BalanceResource]
    package let events: [Event]
}
