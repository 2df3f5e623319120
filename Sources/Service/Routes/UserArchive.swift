import Features
import Foundation
import HTTPSupport
import Ledger
import Proofs

/// All data of one user in the ledger, as one snapshot.
struct UserArchive: Sendable {
    let firstSeenAt: Timestamp
    let appAccountToken: UUID
    /// The ids that became the user's by log-ins.
    let aliases: [User]
    /// Nil for a user without an account in this service.
    let account: AccountRecord?
    /// The sessions, newest first.
    let sessions: [SessionRecord]
    /// The mails about the account, oldest first.
    let mails: [QueuedMail]
    /// Nil for a user who has not signed up in the seed's own app.
    let member: MemberRecord?
    /// The attributes, in the order of their names.
    let attributes: [Attribute]
    /// The profile, with the owned items.
    let profile: ProfileRecord
    /// The transactions, newest first, like the grants.
    let transactions: [RedeemedTransaction]
    /// The purchases that an import expects.
    let expectedPurchases: [ImportedCustomer.ExpectedPurchase]
    let renewals: [SubscribedPurchase]
    let grants: [Grant]
    let balances: [Credit]
    /// The audit entries, oldest first, with those of merged users.
    let audit: [AuditRecord]
}

extension LedgerTransaction {
    /// All data of a user; nil for an unknown user.
    ///
    /// - Parameter origins: The origins whose purchases are valid for the user.
    func archive(of user: User, accepting origins: Set<Origin>, at moment: Timestamp) throws -> UserArchive? {
        guard let known = try knownUser(user) else { return nil }
        return UserArchive(
            firstSeenAt: known.firstSeenAt, appAccountToken: known.appAccountToken,
            aliases: try aliases(of: user), account: try account(of: user),
            sessions: try sessions(of: user), mails: try mails(about: user), member: try member(of: user),
            attributes: try statedAttributes(of: user), profile: try profile(of: user, accepting: origins, at: moment),
            transactions: try transactions(of: user, before: nil, limit: .max),
            expectedPurchases: try expectedPurchases(of: user), renewals: try renewals(of: user),
            grants: try grants(of: user, before: nil, limit: .max),
            balances: try balances(of: user, accepting: origins), audit: try auditWithMerged(of: user))
    }
}
