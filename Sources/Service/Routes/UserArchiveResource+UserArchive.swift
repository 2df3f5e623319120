import Features
import Ledger
import Proofs

extension UserArchiveResource {
    /// - Parameter keys: The names of API keys by their identifiers.
    init(_ archive: UserArchive, of user: User, at moment: Timestamp, naming keys: [String: String]) {
        self.init(
            exportedAt: moment.rfc3339, user: UserName(issuer: user.issuer, name: user.name),
            firstSeenAt: archive.firstSeenAt.rfc3339,
            appAccountToken: archive.appAccountToken.uuidString.lowercased(),
            aliases: archive.aliases.isEmpty
                ? nil : archive.aliases.map { UserName(issuer: $0.issuer, name: $0.name) },
            account: archive.account.map { AccountResource($0) }, sessions: archive.sessions.map { Session($0) },
            mails: archive.mails.isEmpty ? nil : archive.mails.map { Mail($0) },
            member: archive.member.map { Member($0) },
            attributes: archive.attributes.compactMap { AttributeResource($0) }, nickname: archive.profile.nickname,
            chosen: archive.profile.chosen, wishes: archive.profile.wishes.map { Wish($0) },
            items: archive.profile.items,
            transactions: archive.transactions.map { TransactionResource($0, naming: keys) },
            expectedPurchases: archive.expectedPurchases.isEmpty
                ? nil : archive.expectedPurchases.map { ExpectedPurchase($0) },
            renewalInfos: archive.renewals.map { RenewalInfoResource($0) },
            grants: archive.grants.map { GrantResource($0, naming: keys) },
            balances: archive.balances.map { BalanceResource($0) },
            events: archive.audit.map { Event($0.entry, naming: keys) })
    }
}

extension RenewalInfoResource {
    init(_ subscription: SubscribedPurchase) {
        self.init(
            originalTransactionId: subscription.originalTransactionIdentifier, origin: subscription.origin,
            signedDate: subscription.renewal.statedAt.rfc3339, facts: subscription.renewal.facts.content)
    }
}

extension UserArchiveResource.Session {
    init(_ session: SessionRecord) {
        self.init(beganAt: session.beganAt.rfc3339, endsAt: session.endsAt.rfc3339)
    }
}

extension UserArchiveResource.Mail {
    init(_ mail: QueuedMail) {
        self.init(
            purpose: mail.purpose.rawValue, email: mail.email, askedAt: mail.createdAt.rfc3339,
            sentAt: mail.sentAt?.rfc3339)
    }
}

extension UserArchiveResource.ExpectedPurchase {
    init(_ purchase: ImportedCustomer.ExpectedPurchase) {
        self.init(
            originalTransactionId: purchase.originalTransactionIdentifier, origin: purchase.origin,
            bundleId: purchase.app, productId: purchase.productIdentifier,
            purchaseDate: purchase.purchaseDate.rfc3339, expiresAt: purchase.expiresAt?.rfc3339)
    }
}

extension UserArchiveResource.Wish {
    init(_ wish: Features.Wish) {
        self.init(productId: wish.productIdentifier, wishedAt: wish.wishedAt.rfc3339)
    }
}

extension UserArchiveResource.Member {
    init(_ member: MemberRecord) {
        self.init(
            phoneNumber: member.phoneNumber, email: member.email, fcmToken: member.fcmToken, birth: member.birth,
            gender: member.gender, joinedAt: member.joinedAt.rfc3339)
    }
}

extension UserArchiveResource.Event {
    /// - Parameter keys: The names of API keys by their identifiers.
    init(_ entry: AuditEntry, naming keys: [String: String]) {
        self.init(
            happenedAt: entry.happenedAt.rfc3339, event: entry.event.rawValue, actor: entry.actor.description,
            actorName: entry.actor.keyIdentifier.flatMap { keys[$0] }, origin: entry.origin, reference: entry.reference,
            subject: entry.subject, reason: entry.reason)
    }
}
