import Catalog
import Foundation
import Ledger
import Proofs
import Vocabulary

/// A question of the App Store about a purchase for which the customer has requested a refund (`CONSUMPTION_REQUEST`).
package struct OpenConsumptionRequest: Hashable, Sendable {
    /// The bundle identifier of the app.
    package let app: String
    package let origin: Origin
    /// The UUID of the notification with the question.
    package let notificationUUID: String
    package let transactionIdentifier: String
    /// True if a user has redeemed the purchase.
    package let isRedeemed: Bool
    /// True for an auto-renewable subscription, whose status Apple states with the question.
    package let isSubscription: Bool
    /// The customer's reason, in Apple's words; nil if it is not stated.
    package let reason: String?
    /// The date of the question.
    package let signedAt: Timestamp

    package init(
        app: String,
        origin: Origin,
        notificationUUID: String,
        transactionIdentifier: String,
        isRedeemed: Bool,
        isSubscription: Bool,
        reason: String?,
        signedAt: Timestamp
    ) {
        self.app = app
        self.origin = origin
        self.notificationUUID = notificationUUID
        self.transactionIdentifier = transactionIdentifier
        self.isRedeemed = isRedeemed
        self.isSubscription = isSubscription
        self.reason = reason
        self.signedAt = signedAt
    }
}

/// The consumption requests of the App Store.
extension LedgerTransaction {
    /// The open consumption requests of the App Store about refunds (`CONSUMPTION_REQUEST`), oldest first. The App Store waits for
    /// twelve hours (App Store Server Notifications, "CONSUMPTION_REQUEST").
    ///
    /// - Parameters:
    ///   - origins: The origins of the requests.
    ///   - app: The bundle identifier of an app, for only its purchases; nil for all apps.
    package func openConsumptionRequests(
        at moment: Timestamp,
        of origins: Set<Origin>,
        in app: String? = nil,
        limit: Int
    ) throws -> [OpenConsumptionRequest] {
        guard let app = try number(ofApp: app) else { return [] }
        let apps = try apps
        let rows = try database.rows(
            """
            SELECT transaction_id, origin, app, notification_uuid, content, signed_at
            FROM notification \(database.indexed(by: "notification_that_asks"))
            WHERE type = 'CONSUMPTION_REQUEST' AND settled_at IS NULL AND transaction_id IS NOT NULL
                AND signed_at >= $1 AND origin IN \(origins.sqlList)
                \(database.isIn(app.number))
            ORDER BY signed_at, notification_uuid LIMIT $2
            """,
            [moment.adding(seconds: -ReceivedNotification.answerTime), limit]
        ) { try Self.question(&$0, apps) }
        return try redeemed(rows, apps)
    }

    /// The latest consumption requests, answered or not, newest first.
    ///
    /// - Parameter app: The bundle identifier of an app.
    package func latestConsumptionRequests(in app: String, limit: Int) throws -> [OpenConsumptionRequest] {
        let apps = try apps
        guard let number = apps[app] else { return [] }
        let rows = try database.rows(
            """
            SELECT transaction_id, origin, app, notification_uuid, content, signed_at
            FROM notification \(database.indexed(by: "notification_of_type"))
            WHERE type = 'CONSUMPTION_REQUEST' AND transaction_id IS NOT NULL AND app = $1
            ORDER BY received_at DESC, notification_uuid DESC, origin DESC LIMIT $2
            """,
            [number, limit]
        ) { try Self.question(&$0, apps) }
        return try redeemed(rows, apps)
    }

    private typealias Question = (
        key: TransactionKey, uuid: String, content: NotifiedPurchase?, signedAt: Timestamp
    )

    /// The question in the next columns of a row: the key, the notification, its content and its date.
    private static func question(_ row: inout ResultRow, _ apps: AppNumbers) throws -> Question {
        let (key, uuid): (TransactionKey, String) = (try apps.key(&row), try row.next())
        let content: String? = try row.next()
        return (key, uuid, content.flatMap(NotifiedPurchase.init(content:)), try row.next())
    }

    private func redeemed(_ questions: [Question], _ apps: AppNumbers) throws -> [OpenConsumptionRequest] {
        guard !questions.isEmpty else { return [] }
        let redeemed = Set(
            try database.rows(
                Table.redeemed(among: "$1", in: database),
                [database.list(questions.map(\.key))]
            ) { try apps.key(&$0) })
        return questions.map { key, uuid, content, signedAt in
            OpenConsumptionRequest(
                app: key.app, origin: key.origin, notificationUUID: uuid, transactionIdentifier: key.identifier,
                isRedeemed: redeemed.contains(key), isSubscription: content?.status != nil,
                reason: content?.consumptionRequestReason, signedAt: signedAt)
        }
    }

    /// Settles a consumption request. One that is settled already stays unchanged.
    package func settle(_ request: OpenConsumptionRequest, at moment: Timestamp) throws {
        _ = try database.execute(
            """
            UPDATE notification SET settled_at = $1
            WHERE origin = $2 AND notification_uuid = $3 AND settled_at IS NULL
            """,
            [moment, request.origin, request.notificationUUID])
    }
}

/// The part of a notification's content that a question has.
private struct NotifiedPurchase: Decodable {
    /// The status of a subscription; nil for another purchase.
    let status: Int?
    let consumptionRequestReason: String?

    /// - Parameter content: The content of a notification as JSON.
    init?(content: String) {
        struct Content: Decodable {
            let data: NotifiedPurchase
        }
        guard let content = try? JSONDecoder().decode(Content.self, from: Data(content.utf8)) else { return nil }
        self = content.data
    }
}

/// The answer of a catalog's rules to the App Store's question about a refund, with the facts.
package final class RefundDecision: Sendable {
    package let facts: RefundFacts
    package let answer: RefundAnswer
    /// True if the answer is recorded and not sent.
    package let isDryRun: Bool
    /// The number of the user who has redeemed the purchase; nil for none.
    fileprivate let owner: Int64?

    /// Decides a question by the rules of a catalog. Nil if the catalog has no rules.
    ///
    /// - Parameter preference: The preference if no rule matches; nil for none.
    package init?(
        about request: OpenConsumptionRequest,
        by catalog: Catalog,
        otherwise preference: RefundPreference?,
        in transaction: LedgerTransaction
    ) throws {
        guard let rules = catalog.refundRules else { return nil }
        (facts, owner) = try transaction.refundFacts(about: request, in: catalog)
        answer = rules.answer(to: facts, otherwise: preference)
        isDryRun = rules.isDryRun
    }
}

extension LedgerTransaction {
    /// The facts about the purchase of a question, as of the question.
    ///
    /// - Parameter catalog: The catalog with the types of products whose type the App Store has not stated.
    /// - Returns: The facts, and the number of the user who has redeemed the purchase; nil for none.
    package func refundFacts(
        about request: OpenConsumptionRequest,
        in catalog: Catalog
    ) throws -> (facts: RefundFacts, owner: Int64?) {
        let key = try TransactionKey(
            app: request.app, origin: request.origin, identifier: request.transactionIdentifier
        ).sqlValues(apps)
        let owner: Int64? = try database.value(
            """
            SELECT user_id FROM claim WHERE transaction_id = $1 AND origin = $2 AND app = $3 AND user_id IS NOT NULL
            """, key)
        if let owner, let bought = try transaction(of: request, of: owner) {
            return (try facts(about: bought, request, of: owner, in: catalog), owner)
        }
        let parked = try database.row(
            "SELECT claim FROM parked_transaction WHERE transaction_id = $1 AND origin = $2 AND app = $3", key
        ) { try Claim(parked: try $0.next(), of: request.app) }
        let facts = RefundFacts(
            product: parked?.productIdentifier,
            type: type(of: parked?.productIdentifier, parked?.facts, request, in: catalog),
            reason: request.reason, isDelivered: false, age: parked.map { request.age(since: $0.purchaseDate) })
        return (facts, nil)
    }

    func type(
        of product: String?,
        _ facts: TransactionFacts?,
        _ question: some RefundQuestion,
        in catalog: Catalog
    ) -> ProductType? {
        if question.isSubscription { return .autoRenewableSubscription }
        return facts?.productType ?? product.flatMap { catalog.product($0)?.type }
    }

    private func transaction(of request: OpenConsumptionRequest, of user: Int64) throws -> RedeemedTransaction? {
        try ReadingRecords(database: database).transactions([request.transactionIdentifier], of: user).first {
            $0.origin == request.origin && $0.app?.hasSameBytes(as: request.app) ?? false
        }
    }

    func facts(
        about bought: RedeemedTransaction,
        _ question: some RefundQuestion,
        of user: Int64,
        in catalog: Catalog
    ) throws -> RefundFacts {
        let refunds = try ReadingRecords(database: database).transactions(
            of: [user], stating: PurchasePeriod.Terms.facts + PaidBack.facts)[user, default: []]
            .count { other in
                other.origin == bought.origin && other.appNumber == bought.appNumber && other.paidBack != nil
                    && !other.transactionIdentifier.hasSameBytes(as: bought.transactionIdentifier)
            }
        return RefundFacts(
            product: bought.productIdentifier,
            type: type(of: bought.productIdentifier, bought.facts, question, in: catalog),
            reason: question.reason, consumed: try consumed(bought, of: user, at: question.signedAt, in: catalog),
            age: question.age(since: bought.purchaseDate), refunds: refunds)
    }

    /// The consumed share of a purchase: of the amount that it has added to a balance, or of its time; nil for another purchase.
    private func consumed(
        _ bought: RedeemedTransaction, of user: Int64, at moment: Timestamp, in catalog: Catalog
    ) throws -> Int? {
        guard let credit = try credit(of: bought, of: user) else {
            // The time of a season pass begins where that of the one before it ends.
            let end = catalog.benefit(of: bought.productIdentifier)?.end(
                ofFixedPeriodFrom: bought.purchaseDate, ofUnits: bought.quantity)
            let delay = end.flatMap { end in
                bought.expiresAt.map { max(0, $0.secondsSince1970 - end.secondsSince1970) }
            }
            let start = bought.purchaseDate.adding(seconds: delay ?? 0)
            return bought.expiresAt.map { RefundFacts.consumed(from: start, until: $0, at: moment) }
        }
        let (added, spent) = try movement(of: credit.balance, before: bought, of: user)
        return RefundFacts.consumed(of: credit.amount, addedAfter: added, spent: spent)
    }

    /// The amount that a purchase has added to a balance; nil for another purchase.
    func credit(of bought: RedeemedTransaction, of user: Int64) throws -> Credit? {
        try database.row(
            "SELECT balance, amount FROM credit WHERE user_id = $1 AND sequence = $2", [user, bought.sequence]
        ) { Credit(balance: try $0.next(), amount: try $0.next()) }
    }

    /// The units that were added to a balance before a purchase, and all that were spent of it.
    func movement(
        of balance: String, before bought: RedeemedTransaction, of user: Int64
    ) throws -> (added: Int, spent: Int) {
        let sums = try database.row(
            """
            SELECT CAST(coalesce(sum(added), 0) AS BIGINT), CAST(coalesce(sum(spent), 0) AS BIGINT) FROM (
                SELECT \(CountedCredit.amount) AS added, 0 AS spent FROM credit
                WHERE user_id = $1 AND balance = $2 AND sequence < $3
                UNION ALL
                SELECT amount, 0 FROM balance_addition WHERE user_id = $1 AND balance = $2 AND added_at < $4
                UNION ALL
                SELECT 0, amount FROM spending WHERE user_id = $1 AND balance = $2) AS movement
            """,
            [user, balance, bought.sequence, bought.redeemedAt]
        ) { (added: try $0.next() as Int, spent: try $0.next() as Int) }
        guard let sums else { throw BrokenInvariant("a sum has a row", balance) }
        return sums
    }

    /// Settles a question, and records the decision of the rules in the audit log of the purchase's owner.
    ///
    /// - Parameter code: The code with which the App Store has refused the answer; nil if it has accepted it.
    package func settle(
        _ request: OpenConsumptionRequest,
        deciding decision: RefundDecision,
        refusedAs code: String?,
        at moment: Timestamp
    ) throws {
        try settle(request, at: moment)
        guard let owner = decision.owner else { return }
        let answer = (decision.isDryRun ? "dry run, " : "") + decision.answer.text
        let facts = [decision.facts.text, code.map { "refused by the App Store: \($0)" } ?? ""].filter { !$0.isEmpty }
        try audit.append(
            AuditEntry(
                happenedAt: moment, event: .refundAnswered, actor: .till, origin: request.origin, app: request.app,
                reference: request.transactionIdentifier, subject: decision.facts.productIdentifier ?? "",
                reason: RefundDecision.words(answer, facts)),
            to: owner)
    }
}

extension RefundDecision {
    /// The answer with its facts, for people.
    static func words(_ answer: String, _ facts: [String]) -> String {
        answer + (facts.isEmpty ? "" : " (\(facts.joined(separator: "; ")))")
    }
}

/// A question of a store about a purchase whose money the customer wants back.
protocol RefundQuestion {
    /// True for a purchase that the store calls an auto-renewable subscription. The catalog says it of others.
    var isSubscription: Bool { get }
    var reason: String? { get }
    /// The date of the question.
    var signedAt: Timestamp { get }
}

extension OpenConsumptionRequest: RefundQuestion {}

extension RefundQuestion {
    /// The seconds from a purchase to the question.
    func age(since purchase: Timestamp) -> Int64 {
        max(0, (signedAt.millisecondsSince1970 - purchase.millisecondsSince1970) / 1000)
    }
}
