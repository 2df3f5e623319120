import Foundation
import Ledger
import Proofs
import Vocabulary

/// The effect of a parent's withdrawal of the consent to a child's use of the app: "immediately restrict the child's access to
/// capabilities that require parental or guardian consent" (Declared Age Range, "Monitor for consent withdrawal"). Which ones do, the team
/// knows.
package enum ConsentPolicy: String, CaseIterable, Sendable {
    /// The team's server is told, and the child keeps what it owns.
    case keep
    /// The child's purchases are revoked, too, until the team reinstates them.
    case block
}

/// A parent's withdrawal of consent (`RESCIND_CONSENT`). It names only the app and the child's account, so the App Store
/// has to name the purchases.
package struct RescindedConsent: Hashable, Sendable {
    /// The time for which a withdrawal waits for the App Store's answer, in days.
    static let days: Int64 = 30

    /// The bundle identifier of the app.
    package let app: String
    package let origin: Origin
    package let notificationUUID: String
    /// The App Store's number of the app and the child's account; nil if the notification states none.
    package let appTransactionIdentifier: String?

    private struct Content: Decodable {
        struct AppData: Decodable {
            let appTransactionId: String?
        }

        let appData: AppData?
    }

    fileprivate init(_ row: inout ResultRow, _ apps: AppNumbers) throws {
        app = try apps.bundleIdentifier(of: try row.next())
        (origin, notificationUUID) = (try row.next(), try row.next())
        let content: String? = try row.next()
        appTransactionIdentifier =
            content.flatMap { try? JSONDecoder().decode(Content.self, from: Data($0.utf8)) }?.appData?.appTransactionId
    }
}

extension LedgerTransaction {
    /// The withdrawals that are not applied yet, oldest first.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of the only app.
    ///   - count: The number of the oldest ones to leave out.
    package func rescindedConsents(
        of origins: Set<Origin>, in app: String, at moment: Timestamp, after count: Int = 0, limit: Int
    ) throws -> [RescindedConsent] {
        let apps = try apps
        guard let number = apps[app] else { return [] }
        return try database.rows(
            """
            SELECT app, origin, notification_uuid, content
            FROM notification \(database.indexed(by: "notification_of_type"))
            WHERE type = 'RESCIND_CONSENT' AND received_at >= $1 AND app = $2 AND settled_at IS NULL
                AND origin IN \(origins.sqlList)
            ORDER BY received_at, notification_uuid, origin LIMIT $3 OFFSET $4
            """,
            [moment.adding(days: -RescindedConsent.days), number, limit, count]
        ) { try RescindedConsent(&$0, apps) }
    }

    /// Tells of a withdrawal in the audit log of each owner of the child's purchases, and applies the policy to them. A second time changes
    /// nothing.
    ///
    /// - Parameter purchases: The child's purchases, by their original transactions.
    /// - Returns: The number of owners, or nil if the withdrawal was applied before.
    @discardableResult
    package func apply(
        _ consent: RescindedConsent, to purchases: Set<TransactionKey>, by policy: ConsentPolicy, from view: Viewpoint
    ) throws -> Int? {
        let isOpen = try database.execute(
            "UPDATE notification SET settled_at = $1 WHERE notification_uuid = $2 AND origin = $3 AND settled_at IS NULL",
            [view.moment, consent.notificationUUID, consent.origin])
        guard isOpen > 0 else { return nil }
        let owners = try owners(of: purchases)
        for (owner, owned) in owners.sorted(by: { $0.key < $1.key }) {
            try audit.append(
                AuditEntry(
                    happenedAt: view.moment, event: .consentRescinded, actor: .store(.appStore), origin: consent.origin,
                    app: consent.app, reference: consent.appTransactionIdentifier ?? "", subject: policy.rawValue,
                    reason: nil),
                to: owner)
            guard policy == .block else { continue }
            for purchase in owned.sorted() {
                try block(purchase, of: owner, from: view)
            }
        }
        return owners.count
    }

    /// The present owners of purchases, by their numbers. Erased ones are left out.
    private func owners(of purchases: Set<TransactionKey>) throws -> [Int64: [TransactionKey]] {
        guard !purchases.isEmpty else { return [:] }
        let apps = try apps
        let rows: [(TransactionKey, Int64)] = try database.rows(
            """
            SELECT transaction_id, origin, app, owner_id FROM claim
            WHERE owner_id IS NOT NULL AND transaction_id \(database.isIn(packed: "$1"))
            """,
            [database.list(eachPacked: purchases.map(\.identifier).sorted())]
        ) { (try apps.key(&$0), try $0.next()) }
        let owners = Dictionary(grouping: rows.filter { purchases.contains($0.0) }, by: \.1)
        let erased = try users.erased(among: Set(owners.keys))
        return owners.filter { erased[$0.key] == nil }.mapValues { $0.map(\.0) }
    }

    /// Revokes a purchase. What a consumable has added may be spent, so it stays.
    private func block(_ purchase: TransactionKey, of owner: Int64, from view: Viewpoint) throws {
        let reason = "A parent withdrew the consent."
        let bought = try ReadingRecords(database: database).transactions(ofPurchase: purchase, try apps, of: owner)
        guard let latest = bought.max(by: { $0.isEarlier(than: $1) }),
            bought.productType(inCatalog: view.type(latest.productIdentifier)) != .consumable,
            let changed = try apply(
                .revoke(reason: reason), to: latest, of: owner, by: AuditActor.till.description, at: view.moment)
        else { return }
        try audit.append(
            AuditEntry(
                happenedAt: view.moment, event: .revoked, actor: .till, origin: latest.origin, app: latest.app,
                reference: latest.transactionIdentifier, subject: latest.productIdentifier, reason: reason),
            to: owner)
        _ = try recordStates(of: changed, try apps, from: view)
    }
}
