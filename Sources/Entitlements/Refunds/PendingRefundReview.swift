import Catalog
import Foundation
import Ledger
import Proofs

/// A question of Google Play about a payment that the customer's bank disputes (`PendingRefundReviewNotification`), and its answer.
///
/// "Evaluate the user's request and respond within 24 hours of receiving the notification", and of several answers, the first one counts
/// (developer.android.com/google/play/billing/provide-refund-and-chargeback-suggestions).
///
/// It is a class, so that it is passed as a pointer (swiftlang/swift#90477).
package final class PendingRefundReview: RefundQuestion, Sendable {
    /// The time for the answer, in seconds. It is counted from the event, which is a little before the notification.
    package static let answerTime: Int64 = 24 * 60 * 60
    /// The days after the deadline in which the service still tries. Google does not say that it refuses a late answer, and a wrong clock
    /// must not end the attempts.
    private static let lateDays: Int64 = 7

    /// The bundle identifier of the app.
    package let app: String
    /// The origin of the notification. The question does not say if the purchase is a test.
    package let origin: Origin
    package let notificationUUID: String
    package let orderId: String
    /// The secret of the answer; nil once the question is settled or given up.
    package let pendingRefundToken: String?
    /// The date of the question.
    package let signedAt: Timestamp
    package let attempts: Int
    /// The time of the next attempt; nil if the question is settled, or given up long after its deadline.
    package let nextAttemptAt: Timestamp?
    /// The time at which Google Play accepted the answer, or refused it for good; nil before.
    package let settledAt: Timestamp?
    /// The answer and the rule, for people; nil before.
    package let answer: String?

    let packageName: String

    package var isSubscription: Bool { false }
    package var reason: String? { RefundFacts.chargeback }
    package var deadline: Timestamp { signedAt.adding(seconds: Self.answerTime) }

    fileprivate init(
        app: String, origin: Origin, _ notificationUUID: String, packageName: String, orderId: String, _ token: String?,
        signedAt: Timestamp, attempts: Int, nextAttemptAt: Timestamp?, settledAt: Timestamp?, answer: String?
    ) {
        (self.app, self.origin, self.notificationUUID) = (app, origin, notificationUUID)
        (self.packageName, self.orderId, pendingRefundToken) = (packageName, orderId, token)
        (self.signedAt, self.attempts, self.nextAttemptAt) = (signedAt, attempts, nextAttemptAt)
        (self.settledAt, self.answer) = (settledAt, answer)
    }

    fileprivate var duty: StoreDuty {
        StoreDuty(kind: .refundReview, app: app, origin: origin, subject: orderId, deadline: deadline)
    }

    /// The pauses are those of acknowledgements: several attempts before the deadline.
    fileprivate var retry: GooglePurchase.Acknowledgement? {
        nextAttemptAt.map { .init(deadline: deadline, attempts: attempts, nextAttemptAt: $0) }
    }

    /// True if the service gives the question up. One that arrives late has one attempt.
    fileprivate func isGivenUp(at moment: Timestamp) -> Bool {
        attempts > 0 && deadline.adding(days: Self.lateDays) <= moment
    }
}

/// The facts of the ledger about an order whose payment is disputed.
package final class RefundEvidence: Sendable {
    /// A use of what was sold.
    package struct Usage: Hashable, Sendable {
        package let time: Timestamp
        package let description: String
    }

    /// The largest number of uses, the latest ones. "Lists with over 1000 items will be rejected"
    /// (developers.google.com/android-publisher/api-ref/rest/v3/orders/reviewrefund).
    private static let maximumUsages = 1000

    package let facts: RefundFacts
    /// The delivery, and each spending of what the purchase has added to a balance, in their order.
    package let usages: [Usage]
    /// The account identifier of the purchase, if it is that of the user who has redeemed it.
    package let obfuscatedAccountId: String?
    /// The first transaction of the order, and the number of the user who has redeemed it; nil for none.
    fileprivate let redeemed: (transaction: RedeemedTransaction, owner: Int64)?

    fileprivate init(
        _ facts: RefundFacts, _ usages: [Usage] = [], obfuscatedAccountId: String? = nil,
        of redeemed: (transaction: RedeemedTransaction, owner: Int64)? = nil
    ) {
        self.facts = facts
        self.usages = Array(usages.sorted { $0.time < $1.time }.suffix(Self.maximumUsages))
        (self.obfuscatedAccountId, self.redeemed) = (obfuscatedAccountId, redeemed)
    }

    /// The consumed share of a purchase that somebody has redeemed, in thousandths of a percent. Nothing of another one is consumed.
    package var consumed: Int? { redeemed == nil ? 0 : facts.consumed }

    package var isRedeemed: Bool { redeemed != nil }
}

/// The use cases of questions about disputed payments.
extension GooglePurchaseService {
    /// Stores a question that is to be answered. One that is stored already stays unchanged.
    package func record(
        reviewOf orderId: String, _ token: String, notifiedAs notificationUUID: String, from origin: Origin,
        at eventTime: Timestamp
    ) async throws {
        let review = PendingRefundReview(
            app: app.bundleIdentifier, origin: origin, notificationUUID, packageName: packageName, orderId: orderId,
            token, signedAt: eventTime, attempts: 0, nextAttemptAt: entitlements.clock.now(), settledAt: nil,
            answer: nil)
        try await entitlements.ledger.write { transaction in
            try transaction.register(app: review.app)
            try transaction.refundReviews.add(review)
        }
    }

    /// The questions to answer now, the earliest deadline first.
    package func refundReviewsToAnswer(
        limit: Int
    ) async throws -> (due: [PendingRefundReview], mayBeMore: Bool) {
        let now = entitlements.clock.now()
        let due = try await entitlements.ledger.read { transaction -> [PendingRefundReview] in
            guard let number = try transaction.number(ofApp: app.bundleIdentifier)?.number else { return [] }
            return try transaction.refundReviews.due(at: now, in: number, of: packageName, origins, limit: limit)
        }
        return (due, due.count == limit)
    }

    /// Begins an attempt, after whose failure the next one follows a pause. A service that ends before the result tries again, too.
    ///
    /// - Returns: False if another service has begun one, or if the question is given up.
    package func beginAnswer(to review: PendingRefundReview) async throws -> Bool {
        let now = entitlements.clock.now()
        guard let retry = review.retry else { return false }
        let isGivenUp = review.isGivenUp(at: now)
        let next = isGivenUp ? nil : retry.attempted(at: now)
        let isUnchanged = try await entitlements.ledger.writeInBackground {
            try $0.refundReviews.replace(retry, with: next, of: review)
        }
        return isUnchanged && !isGivenUp
    }

    /// The evidence of the ledger about the order of a question.
    ///
    /// - Parameter order: The order at Google Play, for one that nobody has redeemed; nil if it is not known.
    package func evidence(
        about review: PendingRefundReview, seeing order: GooglePlayOrder? = nil
    ) async throws -> RefundEvidence {
        try await entitlements.ledger.read {
            try $0.refundEvidence(about: review, in: app.catalog, seeing: order)
        }
    }

    /// Settles a question, and records the answer in the audit log of the purchase's owner. One that is settled already stays unchanged.
    ///
    /// - Parameters:
    ///   - isDryRun: True if the answer of the rules was recorded and not sent.
    ///   - code: The code with which Google Play has refused the answer; nil if it has accepted it.
    package func settle(
        _ review: PendingRefundReview, by evidence: RefundEvidence, _ answer: RefundAnswer, isDryRun: Bool,
        refusedAs code: String?
    ) async throws {
        let now = entitlements.clock.now()
        let text = (isDryRun ? "dry run, " : "") + answer.googleText
        try await entitlements.ledger.write { transaction in
            guard try transaction.refundReviews.settle(review, answer: text, at: now) else { return }
            // An answer that came late was missed, whatever Google Play has made of it.
            try transaction.storeDuties.note(done: review.duty, at: now)
            guard let (bought, owner) = evidence.redeemed else { return }
            let facts = [evidence.facts.text, code.map { "refused by Google Play: \($0)" } ?? ""]
            try transaction.audit.append(
                AuditEntry(
                    happenedAt: now, event: .refundAnswered, actor: .till, origin: bought.origin, app: review.app,
                    reference: bought.transactionIdentifier, subject: bought.productIdentifier,
                    reason: RefundDecision.words("chargeback: " + text, facts.filter { !$0.isEmpty })),
                to: owner)
        }
    }
}

extension EntitlementService {
    /// The number of the latest questions among which that about a purchase is looked for.
    private static let latestDisputes = 100

    /// The date of the open question about the payment of a transaction at Google Play; nil without one.
    package func openDispute(of transaction: RedeemedTransaction) async throws -> Timestamp? {
        guard transaction.origin.store == .playStore, let order = transaction.facts.text(.orderId) else { return nil }
        return try await ledger.read {
            try $0.latestRefundReviews(in: transaction.app, limit: Self.latestDisputes)
        }.first { $0.settledAt == nil && $0.orderId.hasSameBytes(as: order) }?.signedAt
    }
}

extension LedgerTransaction {
    /// The latest questions about disputed payments, answered or not, newest first.
    ///
    /// - Parameter app: The bundle identifier of an app; nil for all apps.
    package func latestRefundReviews(in app: String? = nil, limit: Int) throws -> [PendingRefundReview] {
        guard let app = try number(ofApp: app), try database.has("google_refund_review") else { return [] }
        return try refundReviews.latest(in: app.number, limit: limit)
    }

    /// The evidence of the ledger about the order of a question.
    ///
    /// - Parameter order: The order at Google Play, for one that nobody has redeemed; nil if it is not known.
    package func refundEvidence(
        about review: PendingRefundReview, in catalog: Catalog, seeing order: GooglePlayOrder? = nil
    ) throws -> RefundEvidence {
        let isLocal = [.localPlayProduction, .localPlayTest].contains(review.origin)
        let origins = Set([false, true].map { Origin(googlePlay: isLocal ? .localPlay : .google, isTest: $0) })
        let bought = try redeemedTransactions(ofOrder: review.orderId, in: review.app, from: origins)
        guard let first = bought.transactions.first else {
            let product = order?.firstProduct
            return RefundEvidence(
                RefundFacts(
                    product: product, type: type(of: product, nil, review, in: catalog), reason: review.reason,
                    isDelivered: false, age: order?.createdAt.map { review.age(since: $0) }))
        }
        let user = bought.owner
        let each = try bought.transactions.map { try facts(about: $0, review, of: user, in: catalog) }
        // Google Play asks about the whole order. The share of several products that differ is not known.
        let consumed = Set(each.map(\.consumed)).count == 1 ? each.first?.consumed : nil
        return RefundEvidence(
            RefundFacts(
                product: first.productIdentifier, type: each.first?.type, reason: review.reason, consumed: consumed,
                age: each.first?.age, refunds: each.compactMap(\.refunds).min()),
            try bought.transactions.flatMap { try usages(of: $0, by: user) },
            obfuscatedAccountId: try account(of: first, of: user), of: (first, user))
    }

    private func redeemedTransactions(
        ofOrder orderId: String, in app: String, from origins: Set<Origin>
    ) throws -> (owner: Int64, transactions: [RedeemedTransaction]) {
        guard let number = try apps[app] else { return (0, []) }
        let found = try database.rows(
            """
            SELECT user_id, transaction_id FROM redeemed_transaction
            WHERE order_id = $1 AND app = $2 AND origin IN \(origins.sqlList) ORDER BY user_id, sequence
            """,
            [orderId, number]
        ) { (owner: try $0.next() as Int64, transaction: try $0.next() as String) }
        guard let owner = found.first?.owner else { return (0, []) }
        let transactions = try ReadingRecords(database: database).transactions(
            found.filter { $0.owner == owner }.map(\.transaction), of: owner)
        return (
            owner,
            transactions.filter { origins.contains($0.origin) && $0.appNumber == number }.sorted {
                $0.sequence < $1.sequence
            }
        )
    }

    /// The account identifier that a purchase states, if it is one of its owner's.
    private func account(of bought: RedeemedTransaction, of owner: Int64) throws -> String? {
        guard let identifier = bought.facts.text(.obfuscatedAccountId), let token = UUID(uuidString: identifier),
            try users.owner(of: token) == owner
        else { return nil }
        return identifier
    }

    /// The delivery of a purchase, and the spendings of what it has added to a balance. The oldest amounts are spent first.
    ///
    /// The reasons of spendings are the team's own words, and stay here.
    private func usages(of bought: RedeemedTransaction, by user: Int64) throws -> [RefundEvidence.Usage] {
        var usages = [
            RefundEvidence.Usage(
                time: bought.redeemedAt, description: "Delivered to the customer's account: \(bought.productIdentifier)"
            )
        ]
        guard let credit = try credit(of: bought, of: user) else { return usages }
        let first = try movement(of: credit.balance, before: bought, of: user).added
        var total = 0
        try database.forEachRow(
            """
            SELECT amount, spent_at FROM spending WHERE user_id = $1 AND balance = $2 ORDER BY spent_at, spending_id
            """,
            [user, credit.balance]
        ) { row in
            let (amount, time): (Int, Timestamp) = (try row.next(), try row.next())
            let before = total
            total += amount
            let spent = min(total, first + credit.amount) - max(before, first)
            guard spent > 0 else { return }
            usages.append(.init(time: time, description: "Spent \(spent) of \(credit.amount) \(credit.balance)"))
        }
        return usages
    }
}

/// The SQL of questions about disputed payments, inside the caller's transaction.
private struct RefundReviewRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    private static let columns = [
        "app", "origin", "notification_uuid", "package", "order_id", "pending_refund_token", "asked_at", "attempts",
        "next_attempt_at", "settled_at", "answer",
    ]

    /// - Parameter clauses: The SQL after the table.
    private func reviews(_ clauses: String, _ arguments: [any SQLConvertible]) throws -> [PendingRefundReview] {
        try database.rows(
            "SELECT \(Self.columns.joined(separator: ", ")) FROM google_refund_review \(clauses)", arguments
        ) { row in
            PendingRefundReview(
                app: try apps.bundleIdentifier(of: try row.next()), origin: try row.next(), try row.next(),
                packageName: try row.next(), orderId: try row.next(), try row.next(), signedAt: try row.next(),
                attempts: try row.next(), nextAttemptAt: try row.next(), settledAt: try row.next(),
                answer: try row.next())
        }
    }

    /// Writes a question, unless there is one of its notification.
    func add(_ review: PendingRefundReview) throws {
        try database.insert(
            into: "google_refund_review", Self.columns,
            [
                [
                    apps[review.app], review.origin, review.notificationUUID, review.packageName, review.orderId,
                    review.pendingRefundToken, review.signedAt, review.attempts, review.nextAttemptAt,
                    review.settledAt, review.answer,
                ]
            ], isNew: false)
    }

    func due(
        at moment: Timestamp, in app: Int64, of package: String, _ origins: Set<Origin>, limit: Int
    ) throws -> [PendingRefundReview] {
        try reviews(
            """
            WHERE next_attempt_at <= $1 AND app = $2 AND package = $3 AND origin IN \(origins.sqlList)
            ORDER BY asked_at, notification_uuid LIMIT $4
            """,
            [moment, app, package, limit])
    }

    func latest(in app: Int64?, limit: Int) throws -> [PendingRefundReview] {
        try reviews(
            "WHERE app = $1 OR $1 IS NULL ORDER BY asked_at DESC, notification_uuid DESC LIMIT $2", [app, limit])
    }

    /// Puts the next attempt off.
    ///
    /// - Parameter next: Nil for no further one, which needs no secret any more.
    /// - Returns: False if another process has begun an attempt.
    func replace(
        _ known: GooglePurchase.Acknowledgement, with next: GooglePurchase.Acknowledgement?,
        of review: PendingRefundReview
    ) throws -> Bool {
        try database.execute(
            """
            UPDATE google_refund_review SET attempts = $1, next_attempt_at = $2\(next == nil ? ", pending_refund_token = NULL" : "")
            WHERE notification_uuid = $3 AND origin = $4 AND next_attempt_at = $5
            """,
            [
                next?.attempts ?? known.attempts, next?.nextAttemptAt, review.notificationUUID, review.origin,
                known.nextAttemptAt,
            ]) > 0
    }

    /// - Returns: False if the question is settled already.
    func settle(_ review: PendingRefundReview, answer: String, at moment: Timestamp) throws -> Bool {
        try database.execute(
            """
            UPDATE google_refund_review
            SET settled_at = $1, answer = $2, next_attempt_at = NULL, pending_refund_token = NULL
            WHERE notification_uuid = $3 AND origin = $4 AND settled_at IS NULL
            """,
            [moment, answer, review.notificationUUID, review.origin]) > 0
    }
}

extension LedgerTransaction {
    fileprivate var refundReviews: RefundReviewRecords {
        get throws { RefundReviewRecords(database: database, apps: try apps) }
    }
}

extension Table {
    /// The questions of Google Play about disputed payments, by the notifications that asked them. `pending_refund_token`: the secret of
    /// the answer, null once the question is settled or given up; `next_attempt_at`: null once it is settled or given up; `settled_at`: the time at
    /// which Google Play accepted the answer, or refused it for good; `answer`: the answer for people.
    static let googleRefundReview = Table(
        name: "google_refund_review", family: .globalKey,
        columns: [
            .text("notification_uuid"), .origin("origin"), .integer("app"), .text("package"), .text("order_id"),
            .text("pending_refund_token").optional, .integer("asked_at"),
            .integer("attempts", check: "attempts >= 0"), .integer("next_attempt_at").optional,
            .integer("settled_at").optional, .text("answer").optional,
        ],
        key: ["notification_uuid", "origin"],
        checks: [
            "next_attempt_at IS NULL OR settled_at IS NULL AND pending_refund_token IS NOT NULL",
            "(settled_at IS NULL) = (answer IS NULL)",
        ]
    )
    .indexed("google_refund_review_waiting", by: ["next_attempt_at"], where: "next_attempt_at IS NOT NULL")
    .indexed("google_refund_review_by_time", by: ["asked_at", "notification_uuid"])
    .takingBack("next_attempt_at", within: GooglePurchase.Acknowledgement.longestPause)
}
