import Foundation
import Ledger
import Proofs

/// A user in the ledger.
package struct KnownUser: Hashable, Sendable {
    package let user: User
    /// The account token that the user's purchases may contain.
    package let appAccountToken: UUID
    package let firstSeenAt: Timestamp
}

/// A redeemed purchase, with the statements about it.
package struct KnownPurchase: Hashable, Sendable {
    /// Nil if the user was erased.
    package let owner: User?
    /// The bundle identifier of the app that sold it.
    package var app: String? { transactions.first?.app }
    package let status: PurchaseStatus
    /// The items that its transactions grant.
    package let items: [Item]
    /// The transactions, newest first.
    package let transactions: [RedeemedTransaction]
    /// The notifications, newest first.
    package let notifications: [StatedNotification]
}

/// The queries of the support team.
extension LedgerTransaction {
    private func support() throws -> SupportRecords {
        SupportRecords(database: database, apps: try AppRecords(database: database).numbers(of: []))
    }

    /// The users whose names begin with a text, or whose account token is the text, in the order of their names.
    ///
    /// - Parameter last: The last user of the previous page; nil for the first page.
    package func users(matching text: String, after last: User?, limit: Int) throws -> [KnownUser] {
        let records = try support()
        if last == nil, let token = UUID(uuidString: text) {
            let found = try records.user(withToken: token)
            if !found.isEmpty { return found }
        }
        return try records.users(namedFrom: text.precomposedStringWithCanonicalMapping, after: last, limit: limit)
    }

    /// The purchases of a transaction or an original transaction.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of an app, for only its purchases; nil for all apps.
    ///   - type: Returns the type of a product, for transactions without a stated type.
    package func purchases(
        ofTransaction identifier: String,
        in app: String? = nil,
        at moment: Timestamp,
        type: (String) -> ProductType?
    ) throws -> [KnownPurchase] {
        let records = try support()
        return try records.purchases(of: identifier).compactMap { key, owner in
            guard app?.hasSameBytes(as: key.app) ?? true else { return nil }
            return try purchase(key, of: owner, records, at: moment, type: type)
        }
    }

    private func purchase(
        _ key: TransactionKey,
        of owner: Int64,
        _ records: SupportRecords,
        at moment: Timestamp,
        type: (String) -> ProductType?
    ) throws -> KnownPurchase? {
        let reading = ReadingRecords(database: database)
        guard let app = records.apps[key.app] else { return nil }
        let transactions = try reading.transactions(ofPurchase: key, app: app, of: owner)
        let renewal = try reading.renewals(of: owner).first {
            $0.app == app && $0.origin == key.origin
                && $0.originalTransactionIdentifier.hasSameBytes(as: key.identifier)
        }
        guard let status = PurchaseStatus(transactions, renewal?.renewal, at: moment, type: type) else { return nil }
        let user = try users.names(of: [owner])[owner]
        return KnownPurchase(
            owner: user?.issuer == User.erasedIssuer ? nil : user, status: status,
            items: try records.items(of: transactions.map(\.sequence).sorted(), of: owner),
            transactions: transactions.sorted { $0.sequence > $1.sequence },
            notifications: try records.notifications(of: key))
    }

    /// A user's story, newest first: events of the audit log, and notifications about the user's purchases.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of an app, for only the events and notifications of its purchases; nil for all.
    ///   - position: The position of the last entry of the previous page; nil for the first page.
    package func story(
        of user: User,
        in app: String? = nil,
        before position: StoryEntry.Position?,
        limit: Int
    ) throws -> [StoryEntry] {
        guard let number = try users.known(user) else { return [] }
        let records = StoryRecords(database: database)
        let events = try records.events(of: number, in: app, before: position, limit: limit)
        let notifications = try records.notifications(of: number, in: app, before: position, limit: limit)
        let refused = events.map(\.entry).filter { $0.event == .refused }
        let owners = try support().owners(of: refused, in: app, users)
        let entries =
            events.map { entry, number in
                StoryEntry(
                    .event(
                        entry, number: number,
                        otherOwner: entry.event == .refused
                            ? owners[entry.reference].flatMap { $0 == user ? nil : $0 } : nil))
            } + notifications.map { StoryEntry(.notification($0)) }
        return Array(entries.sorted { $1.position < $0.position }.prefix(limit))
    }

    /// The purchases that nobody has redeemed, in the order of their transactions.
    ///
    /// - Parameters:
    ///   - identifier: A transaction or an original transaction; nil for all.
    ///   - app: The bundle identifier of an app, for only its purchases; nil for all apps.
    ///   - last: The position of the last purchase of the previous page; nil for the first page.
    package func unclaimedPurchases(
        ofTransaction identifier: String?,
        in app: String? = nil,
        after last: UnclaimedPurchase.Position?,
        limit: Int
    ) throws -> [UnclaimedPurchase] {
        guard let app = try number(ofApp: app) else { return [] }
        let apps = try AppRecords(database: database).numbers(of: [])
        return try UnclaimedRecords(database: database, apps: apps)
            .purchases(of: identifier, in: app.number, after: last, limit: limit).map(\.purchase)
    }

    /// Assigns an unclaimed purchase to a user as if the user had redeemed it.
    ///
    /// - Parameters:
    ///   - origin: Nil if only one origin uses the identifier.
    ///   - app: The bundle identifier of the only app whose purchases are searched; nil for all apps.
    ///   - origins: The origins that are valid for the user.
    ///   - benefit: Returns the current benefit of a product of an app.
    ///   - type: Returns the type of a product, for transactions without a stated type.
    /// - Returns: The result for each purchase of the identifier. Empty if there is none; if there are several, nothing is
    ///   changed.
    package func assign(
        _ identifier: String,
        origin: Origin?,
        in app: String? = nil,
        to user: User,
        accepting origins: Set<Origin>,
        reason: String,
        by caller: String,
        accepting accepted: AcceptedOrigins,
        at moment: Timestamp,
        benefit: (_ productIdentifier: String, _ app: String) -> Benefit?,
        type: (String) -> ProductType?
    ) throws -> [Redemption.Result] {
        try requireName(of: user)
        let apps = try AppRecords(database: database).numbers(of: [])
        let found = try UnclaimedRecords(database: database, apps: apps)
            .purchases(of: identifier, after: nil, limit: 100)
            .filter { $0.purchase.transactionIdentifier.hasSameBytes(as: identifier) }
            .filter { origin == nil || $0.purchase.origin == origin }
            .filter { app?.hasSameBytes(as: $0.purchase.app) ?? true }
        guard let parked = found.first?.claim, found.count == 1 else {
            return found.map { _ in .ownedByAnotherUser }
        }
        let claim = parked.valued(by: benefit(parked.productIdentifier, parked.app))
        guard origins.contains(claim.origin) else { throw AssignmentError.originNotAccepted(claim.origin) }
        let answers = try decide(
            [.redeem([claim], for: user, accepting: origins, by: AuditActor(caller: caller))], under: .keep,
            accepting: accepted,
            at: moment, type: type)
        guard case .redeemed(let answer) = answers.first, let result = answer.results.first else {
            throw LedgerError.userUnknown
        }
        guard result.allowsFinish, let number = try users.known(user) else { return [result] }
        let entry = AuditEntry(
            happenedAt: moment, event: .assigned, actor: AuditActor(caller: caller), origin: claim.origin,
            app: claim.app, reference: claim.transactionIdentifier, subject: claim.productIdentifier, reason: reason)
        try audit.append(entry, to: number)
        return [result]
    }
}

/// The error of an assignment of an unclaimed purchase.
package enum AssignmentError: RuledError, Equatable {
    /// No such purchase is known, or a user has redeemed it.
    case purchaseNotFound
    /// Two origins use the same identifier.
    case purchaseAmbiguous
    /// The origin is not accepted for the user.
    case originNotAccepted(Origin)
    /// The usual checks refuse the purchase.
    case refused(Redemption.Result)

    package var rule: ErrorRule {
        switch self {
        case .purchaseNotFound:
            ErrorRule(
                "unclaimedPurchaseNotFound", .notFound,
                "No unclaimed purchase has this transaction. `GET /v1/transactions/{id}` returns the user who has "
                    + "redeemed it.",
                korean: "이 거래의 주인 없는 구매가 없습니다. 이미 사용자가 등록했을 수 있습니다.")
        case .purchaseAmbiguous:
            ErrorRule(
                "transactionAmbiguous", .conflict,
                "Unclaimed purchases of two origins have this identifier. Name one in the query parameter origin.",
                korean: "출처가 다른 두 거래의 식별자가 같습니다. 출처를 지정하세요.")
        case .originNotAccepted(let origin):
            ProofRefusal.Reason.originNotAccepted.rule.stating(
                "Purchases from \(origin.rawValue) are not accepted for this user.")
        case .refused(let result): result.rule.stating(result.rule.remedy?.cause ?? result.rule.sentence)
        }
    }
}
