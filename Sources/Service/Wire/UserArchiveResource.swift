import Features
import Proofs

/// All data of one user.
public struct UserArchiveResource: Codable, Sendable {
    /// A session of the user on a device.
    public struct Session: Codable, Sendable {
        public let beganAt: String
        public let endsAt: String

        public init(beganAt: String, endsAt: String) {
            self.beganAt = beganAt
            self.endsAt = endsAt
        }
    }

    /// A mail about the account. Its text is not kept.
    public struct Mail: Codable, Sendable {
        /// `verification`, `reset`, `addressChange` or `newAddress`.
        public let purpose: String
        /// The recipient.
        public let email: String
        public let askedAt: String
        /// The date of sending. Nil if the mail was not sent.
        public let sentAt: String?

        public init(purpose: String, email: String, askedAt: String, sentAt: String? = nil) {
            self.purpose = purpose
            self.email = email
            self.askedAt = askedAt
            self.sentAt = sentAt
        }
    }

    /// A product on the user's wish list.
    public struct Wish: Codable, Sendable {
        public let productId: String
        public let wishedAt: String

        public init(productId: String, wishedAt: String) {
            self.productId = productId
            self.wishedAt = wishedAt
        }
    }

    /// The user's details in the seed's own app.
    public struct Member: Codable, Sendable {
        public let phoneNumber: String
        public let email: String
        public let fcmToken: String
        public let birth: String
        public let gender: Int
        public let joinedAt: String

        public init(
            phoneNumber: String,
            email: String,
            fcmToken: String,
            birth: String,
            gender: Int,
            joinedAt: String
        ) {
            self.phoneNumber = phoneNumber
            self.email = email
            self.fcmToken = fcmToken
            self.birth = birth
            self.gender = gender
            self.joinedAt = joinedAt
        }
    }

    /// An entry of the user's audit log.
    public struct Event: Codable, Sendable {
        public let happenedAt: String
        public let event: String
        public let actor: String
        /// The name of the API key; nil for another actor, if the ledger does not have the key, and for the user's own app.
        public let actorName: String?
        public let origin: Origin?
        public let reference: String
        public let subject: String
        public let reason: String?

        public init(
            happenedAt: String,
            event: String,
            actor: String,
            actorName: String? = nil,
            origin: Origin? = nil,
            reference: String,
            subject: String,
            reason: String? = nil
        ) {
            self.happenedAt = happenedAt
            self.event = event
            self.actor = actor
            self.actorName = actorName
            self.origin = origin
            self.reference = reference
            self.subject = subject
            self.reason = reason
        }
    }

    /// A purchase that an import expects, and that nobody has proved.
    public struct ExpectedPurchase: Codable, Sendable {
        public let originalTransactionId: String
        public let origin: Origin
        public let bundleId: String
        public let productId: String
        public let purchaseDate: String
        public let expiresAt: String?

        public init(
            originalTransactionId: String,
            origin: Origin,
            bundleId: String,
            productId: String,
            purchaseDate: String,
            expiresAt: String?
        ) {
            self.originalTransactionId = originalTransactionId
            self.origin = origin
            self.bundleId = bundleId
            self.productId = productId
            self.purchaseDate = purchaseDate
            self.expiresAt = expiresAt
        }
    }

    /// Dates are RFC 3339, UTC.
    public let exportedAt: String
    public let user: UserName
    public let firstSeenAt: String
    public let appAccountToken: String
    /// The ids that became the user's by log-ins. Nil if there are none.
    public let aliases: [UserName]?
    /// The account. Nil if the user has none with the service.
    public let account: AccountResource?
    /// The sessions, newest first.
    public let sessions: [Session]
    /// The mails of the last days, oldest first. Nil if there are none.
    public let mails: [Mail]?
    /// The member. Nil if the user has not signed up in the seed's own app.
    public let member: Member?
    /// The attributes, in the order of their names.
    public let attributes: [AttributeResource]
    /// The nickname. Nil until the user chooses one.
    public let nickname: String?
    /// The choice in each collection, owned or not.
    public let chosen: [Item]
    public let wishes: [Wish]
    public let items: [Item]
    public let transactions: [TransactionResource]
    /// The purchases that an import expects. Nil if there are none.
    public let expectedPurchases: [ExpectedPurchase]?
    /// The last statements about the renewal of each subscription.
    public let renewalInfos: [RenewalInfoResource]
    public let grants: [GrantResource]
    public let balances: [BalanceResource]
    public let events: [Event]

    public init(
        exportedAt: String,
        user: UserName,
        firstSeenAt: String,
        appAccountToken: String,
        aliases: [UserName]? = nil,
        account: AccountResource? = nil,
        sessions: [Session],
        mails: [Mail]? = nil,
        member: Member? = nil,
        attributes: [AttributeResource],
        nickname: String? = nil,
        chosen: [Item],
        wishes: [Wish],
        items: [Item],
        transactions: [TransactionResource],
        expectedPurchases: [ExpectedPurchase]? = nil,
        renewalInfos: [RenewalInfoResource],
        grants: [GrantResource],
        balances: [BalanceResource],
        events: [Event]
    ) {
        self.exportedAt = exportedAt
        self.user = user
        self.firstSeenAt = firstSeenAt
        self.appAccountToken = appAccountToken
        self.aliases = aliases
        self.account = account
        self.sessions = sessions
        self.mails = mails
        self.member = member
        self.attributes = attributes
        self.nickname = nickname
        self.chosen = chosen
        self.wishes = wishes
        self.items = items
        self.transactions = transactions
        self.expectedPurchases = expectedPurchases
        self.renewalInfos = renewalInfos
        self.grants = grants
        self.balances = balances
        self.events = events
    }
}
