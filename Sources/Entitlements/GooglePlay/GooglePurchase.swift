import Catalog
import Ledger
import Proofs

/// A purchase token of Google Play in the ledger: the last statement about it, and what the service still owes to Google Play.
///
/// It is a class, so that it is passed as a pointer (swiftlang/swift#90477).
package final class GooglePurchase: Sendable {
    /// The purchase token, within its app and origin.
    package let key: TransactionKey
    /// The name of the app on Google Play, which alone knows the token.
    let packageName: String
    /// The first token of its chain, whose name is the original transaction of its main line.
    package let originalToken: String
    /// The token of the purchase that has replaced it; nil for none.
    package let successorToken: String?
    package let isSubscription: Bool
    /// The state of `GooglePlayState`.
    package let state: String
    /// The purchase that a user must have redeemed before the token is acknowledged; nil while nothing is owned.
    package let purchase: Purchase?
    /// The date of the last statement.
    package let askedAt: Timestamp
    /// The number of the last statement in its chain (`StatementNumbers`); 0 for one whose order among others is unknown.
    package let statementNumber: Int64
    /// The next time at which the service asks by itself; nil if no change is expected.
    package let askAt: Timestamp?
    /// The acknowledgement that Google Play awaits; nil if none is due.
    package let acknowledgement: Acknowledgement?
    /// The end of the paid time, or of the grace period, by the last statement with one; nil for a purchase without an end.
    let paidUntil: Timestamp?
    /// The answers since the last statement that Google Play has no such purchase; nil for none.
    package let refusals: Refusals?

    package struct Purchase: Hashable, Sendable {
        /// The transaction of the first product that the catalog has.
        package let transactionIdentifier: String
        /// The first product of the statement: Google Play accepts an acknowledgement under no other one.
        package let productIdentifier: String
        /// True if the catalog has one of the products as a consumable.
        package let isConsumable: Bool
    }

    /// An acknowledgement that is due. Google Play refunds a purchase that is not acknowledged in time.
    package struct Acknowledgement: Hashable, Sendable {
        /// The end of the time that Google Play gives.
        package let deadline: Timestamp
        /// The attempts so far.
        package var attempts = 0
        package var nextAttemptAt: Timestamp

        package init(deadline: Timestamp, attempts: Int = 0, nextAttemptAt: Timestamp) {
            (self.deadline, self.attempts, self.nextAttemptAt) = (deadline, attempts, nextAttemptAt)
        }
    }

    /// Answers in a row that Google Play has no such purchase.
    package struct Refusals: Hashable, Sendable {
        /// The time of the first one.
        package let since: Timestamp
        package let count: Int
    }

    init(
        _ key: TransactionKey, of packageName: String, originalToken: String, successorToken: String?,
        isSubscription: Bool, state: String, _ purchase: Purchase?, askedAt: Timestamp, number: Int64,
        askAt: Timestamp?,
        _ acknowledgement: Acknowledgement?, paidUntil: Timestamp? = nil, _ refusals: Refusals? = nil
    ) {
        self.packageName = packageName
        (self.key, self.originalToken, self.successorToken) = (key, originalToken, successorToken)
        (self.isSubscription, self.state, self.purchase) = (isSubscription, state, purchase)
        (self.askedAt, statementNumber) = (askedAt, number)
        (self.askAt, self.acknowledgement) = (askAt, acknowledgement)
        (self.paidUntil, self.refusals) = (paidUntil, refusals)
    }

    package var purchaseToken: String { key.identifier }

    /// True if the purchase cannot be owned again under this token.
    package var isFinal: Bool { GooglePlayState(rawValue: state)?.isFinal ?? false }

    var transactionKey: TransactionKey? {
        purchase.map { TransactionKey(app: key.app, origin: key.origin, identifier: $0.transactionIdentifier) }
    }
}

/// The rules of statements.
extension GooglePurchase {
    /// The longest time without a question about a purchase that may change, in days, and the time that Google Play has to renew a
    /// subscription that ends, in seconds.
    private static let (silentDays, renewalSeconds): (Int64, Int64) = (1, 300)
    /// The same longest time, in seconds.
    private static let silentSeconds = silentDays * 86_400
    /// The longest time without a question about the money of a purchase that does not change any more, in seconds.
    fileprivate static let refundSeconds: Int64 = 7 * 86_400

    /// - Parameters:
    ///   - known: The purchase before the statement; nil for a new token.
    ///   - originalToken: The first token of the chain of a new token.
    ///   - number: The number of the statement.
    ///   - seesOrders: True if the orders of the statement were asked for, also if they are known.
    convenience init(
        _ statement: GooglePlayStatement, of app: App, _ known: GooglePurchase?, originalToken: String,
        number: Int64, seesOrders: Bool, at moment: Timestamp
    ) {
        let catalog = app.catalog
        let purchases = statement.purchases
        // The service grants nothing for a product that the catalog does not have.
        let awaited =
            purchases.first { catalog.benefit(of: $0.purchase.productIdentifier) != nil } ?? purchases.first
        let isConsumable = purchases.contains { catalog.product($0.purchase.productIdentifier)?.type == .consumable }
        // Google Play consumes the purchase as a whole, which acknowledges it, too.
        let isDue = !statement.isAcknowledged || isConsumable && !purchases.contains(where: \.isConsumed)
        var acknowledgement: Acknowledgement?
        if isDue, awaited != nil, [.purchased, .active, .inGracePeriod, .canceled].contains(statement.state) {
            acknowledgement = Acknowledgement(
                deadline: statement.acknowledgeBy ?? known?.acknowledgement?.deadline
                    ?? moment.adding(days: Self.silentDays),
                attempts: known?.acknowledgement?.attempts ?? 0, nextAttemptAt: moment)
        }
        self.init(
            TransactionKey(
                app: app.bundleIdentifier, origin: statement.origin, identifier: statement.purchaseToken),
            of: statement.packageName, originalToken: known?.originalToken ?? originalToken,
            successorToken: known?.successorToken,
            isSubscription: statement.isSubscription, state: statement.state.rawValue,
            awaited.map {
                Purchase(
                    transactionIdentifier: $0.purchase.transactionIdentifier,
                    productIdentifier: (purchases.first ?? $0).purchase.productIdentifier, isConsumable: isConsumable)
            } ?? known?.purchase, askedAt: statement.askedAt, number: number,
            askAt: Self.askAt(statement, after: known, seesOrders: seesOrders), acknowledgement,
            paidUntil: Self.ends(of: statement).max() ?? known?.paidUntil)
    }

    /// The next time at which to ask by itself: at the end of a period, or after a day. Google Play lists the one-time purchases that it
    /// takes back, so only their money is asked for. What is final is asked for twice, because a service may have ended before it applied
    /// the first answer.
    private static func askAt(
        _ statement: GooglePlayStatement, after known: GooglePurchase?, seesOrders: Bool
    ) -> Timestamp? {
        // The team may still let the service know how long a rental is.
        if statement.state == .purchased, statement.refusal == nil {
            return seesOrders || known == nil ? refundsAskedAt(statement) : known?.askAt
        }
        let isConfirmed = statement.state.isFinal && known?.isFinal ?? false && !isPaidAndReplaced(statement, known)
        if isConfirmed { return refundsAskedAt(statement) }
        let latest = statement.askedAt.adding(days: silentDays)
        // A pre-order is charged at its release.
        let ends = ends(of: statement) + [statement.preorderReleaseTime].compactMap(\.self)
        return ends.map { $0.adding(seconds: renewalSeconds) }.filter { $0 > statement.askedAt }.min()
            .map { min($0, latest) } ?? latest
    }

    /// True if Google Play has had the time to renew it, and may still state what has become of it.
    ///
    /// - Parameter time: Returns the time of the customer who bought a transaction.
    func hasEnded(by time: (String) -> Timestamp) -> Bool {
        guard !isFinal, let paidUntil, let purchase else { return false }
        return paidUntil.adding(seconds: Self.renewalSeconds) <= time(purchase.transactionIdentifier)
    }

    /// The next question about the money of a subscription that is over, or of a one-time purchase; nil if no payment can come back, or if
    /// the service does not see orders.
    private static func refundsAskedAt(_ statement: GooglePlayStatement) -> Timestamp? {
        guard !statement.isReplaced, statement.isSubscription || statement.state == .purchased else { return nil }
        let purchases = statement.purchases.map(\.purchase)
        guard statement.isSubscription else {
            return purchases.filter { $0.facts.integer(.price) != 0 }.map(\.purchaseDate).max().flatMap {
                refundsAskedAt(statement.askedAt, after: $0)
            }
        }
        let paid = purchases.filter { $0.facts.integer(.price) != 0 }
        return paid.compactMap { [$0.revocationDate, $0.expiresDate].compactMap(\.self).min() }.max().flatMap {
            refundsAskedAt(statement.askedAt, after: $0)
        }
    }

    /// The next question about the money of a purchase; nil if it were too late.
    ///
    /// An order that is refunded without the revoke option is not among the voided purchases
    /// (developers.google.com/android-publisher/voided-purchases), and no notification tells of it. The longer ago the end, the rarer the
    /// questions.
    ///
    /// - Parameter end: The end of a subscription, or the date of a one-time purchase.
    static func refundsAskedAt(_ moment: Timestamp, after end: Timestamp) -> Timestamp? {
        let age = moment.secondsSince1970 - end.secondsSince1970
        let next = moment.adding(seconds: min(max(silentSeconds, age), refundSeconds))
        return next < end.adding(days: rememberedDays) ? next : nil
    }

    private static func ends(of statement: GooglePlayStatement) -> [Timestamp] {
        // A rental ends by itself, and Google Play has nothing to say about it then.
        guard statement.isSubscription else { return [] }
        return statement.purchases.compactMap { stated in
            stated.renewal?.facts.date(.gracePeriodExpiresDate) ?? stated.renewal?.facts.date(.autoResumeTime)
                ?? stated.purchase.expiresDate
        }
    }
}

/// The rules of answers that Google Play has no such purchase (404, 410, 400).
///
/// Google Play has given each of them for a valid token (github.com/flutter/flutter issue 181529, github.com/mozilla/fxa issue 19425).
/// So one of them ends nothing, and the service asks again.
extension GooglePurchase {
    /// The days after its end in which Google Play knows a subscription. A token "cannot be used to call the Google Developer API if it
    /// has been more than 60 days since expiry" (developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2,
    /// `OutOfAppPurchaseContext.expiredPurchaseToken`).
    private static let rememberedDays: Int64 = 60
    /// The least number of such answers in a row, and the least time between the first and the last one, in days.
    private static let (leastRefusals, leastDays): (Int, Int64) = (5, 3)
    /// The pause after the first such answer, in seconds. It doubles, up to a day.
    private static let firstRefusalPause: Int64 = 60

    /// The purchase after another such answer. `askAt` is nil if the service gives it up.
    func refused(at moment: Timestamp) -> (refusals: Refusals, askAt: Timestamp?) {
        let refusals = Refusals(
            since: refusals.map { min($0.since, moment) } ?? moment, count: (refusals?.count ?? 0) + 1)
        guard let askAt, !isForgotten(after: refusals, at: moment) else { return (refusals, nil) }
        let doublings = min(refusals.count - 1, 16)
        let next = moment.adding(seconds: min(Self.firstRefusalPause << Int64(doublings), Self.silentSeconds))
        return (refusals, askAt > moment ? min(askAt, next) : next)
    }

    /// True if Google Play has said often and long enough that it has no such purchase. It must also be so long after the paid end that
    /// it forgets a purchase which is not taken back.
    private func isForgotten(after refusals: Refusals, at moment: Timestamp) -> Bool {
        let known = isFinal ? askedAt : (paidUntil ?? askedAt).adding(days: Self.rememberedDays)
        return moment > known && refusals.count >= Self.leastRefusals
            && moment >= refusals.since.adding(days: Self.leastDays)
    }
}

/// The rules of replaced purchases.
extension GooglePurchase {
    /// True if the service waits for the purchase that has replaced this one. It asks until the end of the paid time, and tells nobody
    /// of an end meanwhile.
    func awaitsSuccessor(_ statement: GooglePlayStatement) -> Bool {
        [.expired, .canceled].contains(statement.state) && statement.isReplaced && successorToken == nil
            && askAt != nil
    }

    /// True if a purchase was replaced, nobody knows by which one, and a part of it is paid and not over.
    private static func isPaidAndReplaced(_ statement: GooglePlayStatement, _ known: GooglePurchase?) -> Bool {
        statement.isReplaced && known?.successorToken == nil
            && statement.purchases.contains { $0.purchase.expiresDate.map { $0 > statement.askedAt } ?? false }
    }
}

/// The rules of acknowledgements.
extension GooglePurchase.Acknowledgement {
    /// The pause before the second attempt, in seconds.
    private static let firstPause: Int64 = 10
    /// The longest pause, in seconds.
    static let longestPause: Int64 = 3600

    /// The acknowledgement after the start of another attempt. The pauses double, but there are several attempts before the deadline.
    package func attempted(at moment: Timestamp) -> Self {
        let left = max(0, deadline.secondsSince1970 - moment.secondsSince1970) / 4
        let pause = min(Self.firstPause << min(Int64(attempts), 16), Self.longestPause)
        var next = self
        next.attempts += 1
        next.nextAttemptAt = moment.adding(seconds: left > 0 ? max(Self.firstPause, min(pause, left)) : pause)
        return next
    }

    /// The acknowledgement of a purchase that nobody has redeemed yet. The longer nobody does, the rarer the service looks again.
    ///
    /// - Parameter askedAt: The date of the last statement, which each attempt to redeem renews.
    package func awaitingRedemption(since askedAt: Timestamp, at moment: Timestamp) -> Self {
        let age = max(0, moment.secondsSince1970 - askedAt.secondsSince1970)
        var next = self
        next.nextAttemptAt = moment.adding(seconds: max(1, min(age / 10, Self.longestPause)))
        return next
    }
}

extension GooglePurchase.Purchase {
    /// The purchase in the columns of a row.
    fileprivate init?(_ transaction: String?, _ product: String?, _ isConsumable: Bool) {
        guard let transaction, let product else { return nil }
        self.init(transactionIdentifier: transaction, productIdentifier: product, isConsumable: isConsumable)
    }
}

extension GooglePurchase.Acknowledgement {
    /// The acknowledgement in the columns of a row.
    fileprivate init?(_ deadline: Timestamp?, _ attempts: Int, _ nextAttemptAt: Timestamp?) {
        guard let deadline, let nextAttemptAt else { return nil }
        self.init(deadline: deadline, attempts: attempts, nextAttemptAt: nextAttemptAt)
    }
}

extension GooglePurchase.Refusals {
    /// The refusals in the columns of a row.
    fileprivate init?(_ since: Timestamp?, _ count: Int) {
        guard let since else { return nil }
        self.init(since: since, count: count)
    }
}

/// The SQL of purchase tokens, inside the caller's transaction.
struct GooglePurchaseRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    /// The columns of a row, in the order of `purchase` and `values`.
    private static let columns = """
        purchase_token, origin, app, package, original_token, successor_token, is_subscription, state, transaction_id,
            product_id, is_consumable, asked_at, statement_number, ask_at, acknowledge_by, attempts, next_attempt_at,
            paid_until, refused_at, refusals
        """

    private func purchase(_ row: inout ResultRow) throws -> GooglePurchase {
        GooglePurchase(
            try apps.key(&row), of: try row.next(), originalToken: try row.next(), successorToken: try row.next(),
            isSubscription: try row.next(), state: try row.next(),
            .init(try row.next(), try row.next(), try row.next()), askedAt: try row.next(), number: try row.next(),
            askAt: try row.next(), .init(try row.next(), try row.next(), try row.next()), paidUntil: try row.next(),
            .init(try row.next(), try row.next()))
    }

    private func values(of purchase: GooglePurchase) -> [any SQLConvertible] {
        purchase.key.sqlValues(apps) + [
            purchase.packageName, purchase.originalToken, purchase.successorToken, purchase.isSubscription,
            purchase.state, purchase.purchase?.transactionIdentifier, purchase.purchase?.productIdentifier,
            purchase.purchase?.isConsumable ?? false, purchase.askedAt, purchase.statementNumber, purchase.askAt,
            purchase.acknowledgement?.deadline, purchase.acknowledgement?.attempts ?? 0,
            purchase.acknowledgement?.nextAttemptAt, purchase.paidUntil, purchase.refusals?.since,
            purchase.refusals?.count ?? 0,
        ]
    }

    /// The purchases of tokens, in no order.
    func purchases(of tokens: [String]) throws -> [GooglePurchase] {
        guard !tokens.isEmpty else { return [] }
        return try database.rows(
            "SELECT \(Self.columns) FROM google_purchase WHERE purchase_token \(database.isIn(packed: "$1"))",
            [database.list(eachPacked: tokens)], purchase)
    }

    /// The reason to look at a purchase again, with the columns of its time and of its order.
    enum DueWork {
        /// The earliest deadline comes first.
        case acknowledgement
        /// A question to Google Play. The longest overdue comes first.
        case question

        fileprivate var columns: (time: String, order: String) {
            switch self {
            case .acknowledgement: ("next_attempt_at", "acknowledge_by")
            case .question: ("ask_at", "ask_at")
            }
        }
    }

    /// The purchases of an app with due work.
    func purchases(
        due work: DueWork, at moment: Timestamp, in app: Int64, of package: String, _ origins: Set<Origin>, limit: Int
    ) throws -> [GooglePurchase] {
        try database.rows(
            """
            SELECT \(Self.columns) FROM google_purchase
            WHERE \(work.columns.time) <= $1 AND app = $2 AND package = $3 AND origin IN \(origins.sqlList)
            ORDER BY \(work.columns.order), purchase_token LIMIT $4
            """,
            [moment, app, package, limit], purchase)
    }

    /// The purchases that are still asked about, and were paid until a moment or less long.
    func purchases(
        paidUntil moment: Timestamp, in app: Int64, of package: String, _ origins: Set<Origin>
    ) throws -> [GooglePurchase] {
        try database.rows(
            """
            SELECT \(Self.columns) FROM google_purchase
            WHERE ask_at IS NOT NULL AND paid_until <= $1 AND app = $2 AND package = $3 AND origin IN \(origins.sqlList)
            ORDER BY paid_until, purchase_token
            """,
            [moment, app, package], purchase)
    }

    /// The transactions among some that a user has redeemed.
    func redeemed(among keys: [TransactionKey]) throws -> Set<TransactionKey> {
        guard !keys.isEmpty else { return [] }
        return Set(
            try database.rows(
                Table.redeemed(among: "$1", in: database),
                [database.list(keys)]
            ) { try apps.key(&$0) })
    }

    /// Writes a purchase by a new statement, unless the answer to a later question is written. The token keeps its original and the
    /// count of attempts.
    ///
    /// - Parameter isAcknowledged: True if Google Play has the acknowledgement.
    func write(_ purchase: GooglePurchase, isAcknowledged: Bool) throws {
        try database.write(
            """
            INSERT INTO google_purchase (\(Self.columns), acknowledged_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
            ON CONFLICT (purchase_token, origin, app) DO UPDATE
            SET state = excluded.state, product_id = excluded.product_id, transaction_id = excluded.transaction_id,
                asked_at = excluded.asked_at, statement_number = excluded.statement_number, ask_at = excluded.ask_at,
                acknowledge_by = excluded.acknowledge_by,
                next_attempt_at = excluded.next_attempt_at, is_consumable = excluded.is_consumable,
                paid_until = excluded.paid_until, refused_at = excluded.refused_at, refusals = excluded.refusals,
                acknowledged_at = coalesce(google_purchase.acknowledged_at, excluded.acknowledged_at)
            WHERE excluded.statement_number > google_purchase.statement_number
            """,
            values(of: purchase) + [(isAcknowledged ? purchase.askedAt : nil) as Timestamp?])
    }

    /// Notes that another purchase has replaced one. Google Play is to be asked about it soon, because it has ended.
    func write(successor: String, of key: TransactionKey, at moment: Timestamp) throws {
        try database.write(
            """
            UPDATE google_purchase SET successor_token = $1, ask_at = $2
            WHERE purchase_token = $3 AND origin = $4 AND app = $5 AND successor_token IS NULL
            """,
            [successor, moment] + key.sqlValues(apps))
    }

    /// Puts the next attempt off.
    ///
    /// - Returns: False if another process has begun an attempt, or if a statement has changed the purchase since it was read.
    func replace(
        _ acknowledgement: GooglePurchase.Acknowledgement, with next: GooglePurchase.Acknowledgement,
        of key: TransactionKey
    ) throws -> Bool {
        try database.execute(
            """
            UPDATE google_purchase SET attempts = $1, next_attempt_at = $2
            WHERE purchase_token = $3 AND origin = $4 AND app = $5 AND next_attempt_at = $6
            """,
            [next.attempts, next.nextAttemptAt] + key.sqlValues(apps) + [acknowledgement.nextAttemptAt]) > 0
    }

    /// Ends what is due.
    ///
    /// - Parameter acknowledgedAt: Nil if Google Play refuses the acknowledgement for good.
    func settle(_ key: TransactionKey, acknowledgedAt: Timestamp?) throws {
        try database.execute(
            """
            UPDATE google_purchase
            SET acknowledge_by = NULL, next_attempt_at = NULL, acknowledged_at = coalesce(acknowledged_at, $1)
            WHERE purchase_token = $2 AND origin = $3 AND app = $4
            """,
            [acknowledgedAt] + key.sqlValues(apps))
    }

    /// Writes another answer that Google Play has no such purchase, unless a statement or another such answer was written since the
    /// purchase was read.
    ///
    /// - Parameter askAt: The next time at which Google Play is asked; nil to ask no more.
    /// - Returns: False if it was not written.
    func write(_ refusals: GooglePurchase.Refusals, askAt: Timestamp?, of purchase: GooglePurchase) throws -> Bool {
        try database.execute(
            """
            UPDATE google_purchase SET refused_at = $1, refusals = $2, ask_at = $3
            WHERE purchase_token = $4 AND origin = $5 AND app = $6 AND statement_number = $7 AND refusals = $8
            """,
            [refusals.since, refusals.count, askAt] + purchase.key.sqlValues(apps)
                + [purchase.statementNumber, purchase.refusals?.count ?? 0]) > 0
    }

    /// Sets the next time at which Google Play is asked about a token.
    ///
    /// - Parameter moment: Nil to ask no more.
    func ask(about key: TransactionKey, at moment: Timestamp?) throws {
        try database.execute(
            "UPDATE google_purchase SET ask_at = $1 WHERE purchase_token = $2 AND origin = $3 AND app = $4",
            [moment] + key.sqlValues(apps))
    }
}

extension LedgerFeature {
    /// The purchase tokens of Google Play, the reports about sales outside its billing, and its questions about disputed payments. The
    /// purchases themselves are those of `LedgerFeature.entitlements`.
    package static let googlePlay = LedgerFeature(
        tables: [
            .googlePurchase, .googleChain, .googleLine, .googleVoidedPurchase, .googleVoidedUnits, .googleBoughtUnits,
            .externalTransaction, .googleRefundReview,
        ])
}

extension Table {
    /// The last statement of Google Play about each purchase token. `original_token`: the first token of its chain, whose name
    /// is the original transaction of its purchases; `statement_number`: the number of the statement in
    /// the chain; `successor_token`: the token of the purchase that has replaced it; `transaction_id`: the
    /// transaction that a user must have redeemed before the purchase is acknowledged; `product_id`: the first product of the purchase,
    /// under which Google Play accepts the acknowledgement; `ask_at`: the next time at which the service asks by itself;
    /// `acknowledge_by`: the end of the time in which the purchase is to be acknowledged or consumed, null if nothing is due;
    /// `package`: the app on Google Play, because an app of the catalog may have several there; `is_consumable`: true if the purchase is
    /// consumed instead, because the catalog has one of its products as a consumable; `paid_until`: the last stated end; `refusals`: the
    /// answers in a row since the statement that Google Play has no such purchase, the first one at `refused_at`.
    fileprivate static let googlePurchase = Table(
        name: "google_purchase", family: .globalKey,
        columns: [
            .packed("purchase_token"), .origin("origin"), .integer("app"), .text("original_token"),
            .text("successor_token").optional, .integer("is_subscription", check: "is_subscription IN (0, 1)"),
            .text("state"), .text("product_id").optional, .text("transaction_id").optional, .integer("asked_at"),
            .integer("ask_at").optional, .integer("acknowledge_by").optional, .integer("acknowledged_at").optional,
            .integer("attempts", check: "attempts >= 0"), .integer("next_attempt_at").optional, .text("package"),
            .integer("is_consumable", check: "is_consumable IN (0, 1)"), .integer("statement_number"),
            .integer("paid_until").optional, .integer("refused_at").optional,
            .integer("refusals", check: "refusals >= 0"),
        ],
        key: ["purchase_token", "origin", "app"],
        checks: [
            "(acknowledge_by IS NULL) = (next_attempt_at IS NULL)", "(product_id IS NULL) = (transaction_id IS NULL)",
            "acknowledge_by IS NULL OR transaction_id IS NOT NULL", "(refused_at IS NULL) = (refusals = 0)",
        ]
    )
    .indexed("google_purchase_to_acknowledge", by: ["next_attempt_at"], where: "next_attempt_at IS NOT NULL")
    .indexed("google_purchase_to_ask", by: ["ask_at"], where: "ask_at IS NOT NULL")
    .indexed("google_purchase_by_statement", by: ["asked_at"])
    // Another answer corrects the conclusions from the time of a wrong clock.
    .takingBack("asked_at", setting: "asked_at = $1, ask_at = $1")
    .takingBack("ask_at", within: GooglePurchase.refundSeconds)
    .takingBack("next_attempt_at", within: GooglePurchase.Acknowledgement.longestPause)
}
