import Accounts
import Commerce
import Entitlements
import Foundation
import HTTPSupport
import Ledger
import Profiles
import SeedApp

/// Everything the ledger has of one user, as of one moment.
struct UserArchive: Sendable {
    let firstSeenAt: Timestamp
    let appAccountToken: UUID
    /// nil for a user without an account here.
    let account: AccountRecord?
    /// Newest first.
    let sessions: [SessionRecord]
    /// The mails about the account, oldest first.
    let mails: [QueuedMail]
    /// nil for who has not signed up in the app that Till began with.
    let member: MemberRecord?
    /// And what the user owns.
    let profile: ProfileRecord
    /// Newest first, as the grants.
    let transactions: [RedeemedTransaction]
    let renewals: [SubscribedPurchase]
    let grants: [Grant]
    let balances: [Credit]
    /// From the first on.
    let audit: [AuditRecord]
}

extension LedgerTransaction {
    /// Everything there is of a user; nil for one the ledger has not seen.
    ///
    /// - Parameter origins: The origins whose purchases count.
    func archive(of user: User, counting origins: Set<Origin>, at moment: Timestamp) throws -> UserArchive? {
        guard let known = try knownUser(user) else { return nil }
        return UserArchive(
            firstSeenAt: known.firstSeenAt, appAccountToken: known.appAccountToken, account: try account(of: user),
            sessions: try sessions(of: user), mails: try mails(about: user), member: try member(of: user),
            profile: try profile(of: user, counting: origins, at: moment),
            transactions: try transactions(of: user, before: nil, limit: .max), renewals: try renewals(of: user),
            grants: try grants(of: user, before: nil, limit: .max),
            balances: try balances(of: user, counting: origins), audit: try audit(of: user, after: 0, limit: .max))
    }
}
