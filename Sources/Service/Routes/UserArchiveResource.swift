import Accounts
import Commerce
import Entitlements
import HTTPSupport
import Ledger
import Profiles
import SeedApp

/// Everything there is of a user, as the service shows it.
struct UserArchiveResource: Encodable {
    struct Name: Encodable {
        /// Empty where the team's own back end gives the name.
        let issuer: String
        let name: String
    }

    /// A device on which the user is logged in.
    struct SessionResource: Encodable {
        let beganAt: String
        let endsAt: String

        init(_ session: SessionRecord) {
            beganAt = session.beganAt.rfc3339
            endsAt = session.endsAt.rfc3339
        }
    }

    struct WishResource: Encodable {
        let productId: String
        let wishedAt: String

        init(_ wish: Wish) {
            productId = wish.productIdentifier
            wishedAt = wish.wishedAt.rfc3339
        }
    }

    struct MemberResource: Encodable {
        let phoneNumber: String
        let email: String
        let fcmToken: String
        let birth: String
        let gender: Int
        let joinedAt: String

        init(_ member: MemberRecord) {
            phoneNumber = member.phoneNumber
            email = member.email
            fcmToken = member.fcmToken
            birth = member.birth
            gender = member.gender
            joinedAt = member.joinedAt.rfc3339
        }
    }

    /// Something that happened to what the user owns.
    struct Event: Encodable {
        let happenedAt: String
        let event: String
        let actor: String
        let origin: Origin?
        let reference: String
        let subject: String
        let reason: String?

        init(_ entry: AuditEntry) {
            happenedAt = entry.happenedAt.rfc3339
            event = entry.event.rawValue
            actor = entry.actor.description
            origin = entry.origin
            reference = entry.reference
            subject = entry.subject
            reason = entry.reason
        }
    }

    /// Dates are RFC 3339, UTC.
    let exportedAt: String
    let user: Name
    let firstSeenAt: String
    let appAccountToken: String
    /// Absent where the user has no account here.
    let account: AccountResource?
    /// Newest first.
    let sessions: [SessionResource]
    /// Absent for who has not signed up in the seed's own app.
    let member: MemberResource?
    /// Absent where the user has chosen none.
    let nickname: String?
    /// What was chosen of each collection, owned or not.
    let chosen: [Item]
    let wishes: [WishResource]
    let items: [Item]
    let transactions: [TransactionResource]
    let grants: [GrantResource]
    let balances: [BalanceResource]
    let events: [Event]

    init(_ archive: UserArchive, of user: User, at moment: Timestamp) {
        exportedAt = moment.rfc3339
        self.user = Name(issuer: user.issuer, name: user.name)
        firstSeenAt = archive.firstSeenAt.rfc3339
        appAccountToken = archive.appAccountToken.uuidString.lowercased()
        account = archive.account.map(AccountResource.init)
        member = archive.member.map(MemberResource.init)
        nickname = archive.profile.nickname
        chosen = archive.profile.chosen
        wishes = archive.profile.wishes.map(WishResource.init)
        sessions = archive.sessions.map(SessionResource.init)
        items = archive.profile.items
        transactions = archive.transactions.map(TransactionResource.init)
        grants = archive.grants.map(GrantResource.init)
        balances = archive.balances.map(BalanceResource.init)
        events = archive.audit.map { Event($0.entry) }
    }
}
