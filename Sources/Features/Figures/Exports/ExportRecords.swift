import Catalog
import Entitlements
import Ledger
import Proofs
import Vocabulary

/// The SQL that reads exports, inside the caller's transaction. A page has all rows of its users, in the order of their
/// numbers.
struct ExportRecords {
    /// The rows of some users.
    struct Page {
        let rows: [[ExportValue]]
        /// The last user of the page; nil after the last page.
        let last: Int64?
    }

    let database: any LedgerDatabase
    /// The bundle identifier of the only app whose transactions are exported; nil for all apps.
    let app: String?
    /// Returns a product of the catalog; nil if the catalog has none of the identifier.
    let product: (String) -> Product?

    /// - Parameters:
    ///   - user: The last user of the previous page.
    ///   - end: The moment after which records are left out.
    func page(of export: Export, after user: Int64, until end: Timestamp, limit: Int) throws -> Page {
        let users = try users(after: user, limit: limit)
        guard let last = users.last else { return Page(rows: [], last: nil) }
        let rows =
            switch export {
            case .transactions: try transactions(of: users, until: end)
            case .customers: try customers(users, until: end)
            case .events: try events(of: users, until: end)
            }
        return Page(rows: rows, last: last.number)
    }

    private func users(after user: Int64, limit: Int) throws -> [ExportedUser] {
        try database.rows(
            """
            SELECT user_id, issuer, name, first_seen_at, is_app_account_token_settled, app_account_token
            FROM "user" WHERE user_id > $1 ORDER BY user_id LIMIT $2
            """,
            [user, limit]
        ) { row in
            let (number, issuer, name): (Int64, String, String) = (try row.next(), try row.next(), try row.next())
            let firstSeenAt: Timestamp = try row.next()
            let (isSettled, appAccountToken): (Bool, String?) = (try row.next(), try row.next())
            let isErased = issuer == User.erasedIssuer
            return ExportedUser(
                number: number, issuer: isErased ? nil : issuer, name: isErased ? nil : name, firstSeenAt: firstSeenAt,
                appAccountToken: isSettled && !isErased ? appAccountToken : nil)
        }
    }

    private func transactions(of users: [ExportedUser], until end: Timestamp) throws -> [[ExportValue]] {
        let apps = try database.apps.names()
        let records = ReadingRecords(database: database)
        let numbers = Set(users.map(\.number))
        let (bought, items) = (try records.transactions(of: numbers), try records.boughtItems(of: numbers))
        let renewals = try renewals(of: numbers, until: end)
        return users.flatMap { user in
            rows(
                of: (bought[user.number] ?? []).filter { isExported($0) && $0.redeemedAt <= end }
                    .withoutRepetitions.sorted { $0.sequence < $1.sequence },
                by: user, apps: apps, items: items[user.number] ?? [:], renewals[user.number] ?? ExportedRenewals())
        }
    }

    private func isExported(_ transaction: RedeemedTransaction) -> Bool {
        app?.hasSameBytes(as: transaction.app ?? "") ?? true
    }

    private func renewals(of users: Set<Int64>, until end: Timestamp) throws -> [Int64: ExportedRenewals] {
        var renewals = try ReadingRecords(database: database).renewals(of: users).mapValues { subscribed in
            var renewals = ExportedRenewals()
            for purchase in subscribed { renewals.statements[purchase.purchase] = purchase.renewal }
            return renewals
        }
        try database.forEachRow(
            """
            SELECT user_id, happened_at, event, origin, reference, reason FROM audit
            WHERE user_id \(database.isIn(numbers: "$1")) AND event \(database.isIn("$2")) AND happened_at <= $3
            ORDER BY user_id, number
            """,
            [
                database.list(renewals.keys.sorted()),
                database.list([AuditEntry.Event.autoRenewDisabled, .autoRenewEnabled].map(\.rawValue)), end,
            ]
        ) { row in
            let (user, date): (Int64, Timestamp) = (try row.next(), try row.next())
            let event: AuditEntry.Event = try row.next()
            guard let origin: Origin = try row.next() else { return }
            let period = ExportedRenewals.Period(origin: origin, transaction: ByteKey(try row.next()))
            let canceler = ExpirationReason(canceler: try row.next())
            let isByCustomer = event == .autoRenewDisabled && canceler?.isByCustomer ?? true
            renewals[user, default: ExportedRenewals()].turnedOff[period] = isByCustomer ? date : nil
        }
        return renewals
    }

    private func customers(_ users: [ExportedUser], until end: Timestamp) throws -> [[ExportValue]] {
        let bought = try ReadingRecords(database: database).transactions(of: Set(users.map(\.number)))
        return users.filter { $0.name != nil && $0.firstSeenAt <= end }.map { user in
            let dates = (bought[user.number] ?? []).filter { $0.redeemedAt <= end }.withoutRepetitions.map(
                \.purchaseDate)
            return [
                .text(user.name), .text(user.issuer), .date(user.firstSeenAt), .text(user.appAccountToken),
                .integer(Int64(dates.count)), .date(dates.min()), .date(dates.max()),
            ]
        }
    }

    private func events(of users: [ExportedUser], until end: Timestamp) throws -> [[ExportValue]] {
        let known = Dictionary(uniqueKeysWithValues: users.map { ($0.number, $0) })
        return try database.rows(
            """
            SELECT audit.user_id, number, happened_at, event, \(AuditEntry.actor), origin, reference, \(AuditEntry.subject), reason,
                api_key.name
            FROM audit \(AuditActor.keyJoin)
            WHERE audit.user_id \(database.isIn(numbers: "$1")) AND happened_at <= $2
            ORDER BY audit.user_id, number
            """,
            [database.list(users.map(\.number)), end]
        ) { row in
            let user = known[try row.next()]
            return [
                .text(user?.name), .text(user?.issuer), .integer(try row.next()), .date(try row.next()),
                .text((try row.next() as AuditEntry.Event).rawValue),
                .text((try row.next() as AuditActor).description), .text((try row.next() as Origin?)?.rawValue),
                .text(try row.next()), .text(try row.next()), .text(try row.next()), .text(try row.next()),
            ]
        }
    }
}

/// The rows of a user's transactions. Some columns depend on the user's other transactions: the number of the renewal, and the
/// first payment after a trial.
extension ExportRecords {
    /// - Parameters:
    ///   - bought: The transactions, in the order of their numbers.
    ///   - apps: The bundle identifiers of apps.
    ///   - items: The items by the numbers of the transactions.
    func rows(
        of bought: [RedeemedTransaction], by user: ExportedUser, apps: [Int64: String], items: [Int64: [Item]],
        _ renewals: ExportedRenewals
    ) -> [[ExportValue]] {
        let parts = SubscriptionParts(of: bought)
        let purchases = Dictionary(grouping: bought) { parts[$0.purchase] }.mapValues { transactions in
            Self.periods(
                of: transactions.filter(\.isSubscription).sorted {
                    ($0.purchaseDate, $0.sequence) < ($1.purchaseDate, $1.sequence)
                })
        }
        let readings = SubscriptionTimeline.readings(of: bought)
        return bought.map { transaction in
            let periods = purchases[parts[transaction.purchase]] ?? []
            let index = periods.firstIndex { $0.contains { $0.sequence == transaction.sequence } }
            let isLast = index == periods.indices.last
            return ExportedTransaction(
                user: user, transaction: transaction, terms: PurchasePeriod.Terms(transaction.facts),
                app: apps[transaction.appNumber], product: product(transaction.productIdentifier),
                items: items[transaction.sequence] ?? [],
                number: index.map { $0 + 1 }, reading: readings[transaction.sequence],
                turnedOff: index.flatMap { _ in renewals.turnedOff(transaction, isLast: isLast) },
                failedCharge: index.flatMap { _ in renewals.failedCharge(after: transaction, isLast: isLast) }
            ).values
        }
    }

    /// The transactions of each period: one, and those that add seats to it.
    private static func periods(of transactions: [RedeemedTransaction]) -> [[RedeemedTransaction]] {
        var seats = SeatAdditions()
        var periods: [[RedeemedTransaction]] = []
        for transaction in transactions {
            if seats.adds(transaction), let last = periods.indices.last {
                periods[last].append(transaction)
            } else {
                periods.append([transaction])
            }
        }
        return periods
    }
}

/// A row of the export: a transaction with what its columns show.
struct ExportedTransaction {
    static let columns: [(name: String, value: @Sendable (ExportedTransaction) -> ExportValue)] = [
        ("rc_original_app_user_id", { .text($0.user.name) }),
        ("user_issuer", { .text($0.user.issuer) }),
        ("first_seen_time", { .date($0.user.firstSeenAt) }),
        ("app", { .text($0.app) }),
        ("origin", { .text($0.transaction.origin.rawValue) }),
        ("store", { .text($0.transaction.origin.store.rawValue) }),
        ("is_sandbox", { .bool($0.transaction.origin.isSandbox) }),
        ("country", { .text($0.facts.text(.storefront)) }),
        ("product_identifier", { .text($0.transaction.productIdentifier) }),
        ("product_display_name", { .text($0.productName) }),
        ("product_duration", { .text($0.product?.subscription?.period.description) }),
        ("quantity", { .integer(Int64($0.transaction.quantity)) }),
        ("store_transaction_id", { .text($0.transaction.storeIdentifier) }),
        ("original_store_transaction_id", { .text($0.transaction.originalTransactionIdentifier) }),
        ("start_time", { .date($0.transaction.purchaseDate) }),
        ("end_time", { .date($0.transaction.paidUntil) }),
        ("grace_period_end_time", { .date($0.transaction.graceEndsAt) }),
        ("effective_end_time", { .date($0.effectiveEnd) }),
        ("refunded_at", { .date($0.transaction.paidBack?.at) }),
        ("unsubscribe_detected_at", { .date($0.turnedOff) }),
        ("billing_issues_detected_at", { .date($0.failedCharge) }),
        ("is_auto_renewable", { .bool($0.number != nil) }),
        ("is_trial_period", { .bool($0.isTrial) }),
        ("is_in_intro_offer_period", { .bool($0.terms.isIntroductory && !$0.isTrial) }),
        ("is_trial_conversion", { .bool($0.reading?.isConversion ?? false) }),
        ("renewal_number", { .integer($0.number.map(Int64.init)) }),
        ("offer", { .text($0.facts.text(.offerIdentifier)) }),
        ("offer_type", { .integer($0.facts.integer(.offerType)) }),
        ("ownership_type", { .text($0.facts.text(.inAppOwnershipType)) }),
        ("purchased_currency", { .text($0.facts.text(.currency)) }),
        ("price_in_purchased_currency", { .amount($0.transaction.keptAmount) }),
        ("purchase_price_in_purchased_currency", { .amount($0.transaction.paidAmount) }),
        ("mrr_in_purchased_currency", { .amount($0.reading?.monthly?.milliunits) }),
        ("entitlement_identifiers", { .text($0.itemNames) }),
        ("redeemed_at", { .date($0.transaction.redeemedAt) }),
        ("updated_at", { .date($0.facts.date(.signedDate)) }),
    ]

    let user: ExportedUser
    let transaction: RedeemedTransaction
    let terms: PurchasePeriod.Terms
    /// The bundle identifier.
    let app: String?
    let product: Product?
    let items: [Item]
    /// The number of the period; nil for what is no subscription.
    let number: Int?
    /// The place among the periods of its purchase, as the figures count it; nil for what is no subscription, and for a purchase of
    /// another customer.
    let reading: SubscriptionTimeline.Reading?
    /// The date at which the customer turned off renewal; nil if it renews.
    let turnedOff: Timestamp?
    /// The end after which the customer could not be charged; nil if the customer was.
    let failedCharge: Timestamp?

    var values: [ExportValue] { Self.columns.map { $0.value(self) } }

    private var facts: TransactionFacts { transaction.facts }

    private var isTrial: Bool { reading?.isTrial ?? terms.isTrial }

    /// The end of a period is that in the figures: the next one ends it, whatever the store has stated.
    private var effectiveEnd: Timestamp? {
        if let reading { return reading.end }
        let ends = [transaction.paidUntil, transaction.graceEndsAt].compactMap(\.self).max()
        return [ends, transaction.revocationDate].compactMap(\.self).min()
    }

    /// The name in English, or in the first language there is.
    private var productName: String? {
        let names = product?.localizations ?? []
        return (names.first { $0.language == "en" } ?? names.first)?.displayName
    }

    private var itemNames: String? {
        items.isEmpty ? nil : items.sorted().map { "\($0.collection)/\($0.number)" }.joined(separator: ";")
    }
}

/// The statements about the renewals of a user's subscriptions, and what the user's history tells of them.
struct ExportedRenewals {
    /// A period of a subscription: its transaction.
    struct Period: Hashable {
        let origin: Origin
        let transaction: ByteKey
    }

    var statements: [PurchaseOfUser: StatedRenewal] = [:]
    /// The dates at which renewal was turned off, by the period; absent if it was turned on again.
    var turnedOff: [Period: Timestamp] = [:]

    /// The date at which the customer turned off the renewal of a period; nil if it renews, or nothing was stated.
    ///
    /// - Parameter isLast: Whether it is the last period of its purchase.
    func turnedOff(_ transaction: RedeemedTransaction, isLast: Bool) -> Timestamp? {
        let period = Period(origin: transaction.origin, transaction: ByteKey(transaction.transactionIdentifier))
        guard let statement = statement(about: transaction, isLast: isLast) else { return turnedOff[period] }
        // A purchase that had ended when it became known has no history, and that of a transferred one stays with its former owner.
        let isByCustomer =
            turnedOff[period] != nil || statement.ending(of: transaction.origin.store)?.isByCustomer == true
        return isByCustomer ? statement.turnedOffAt(inPeriodFrom: transaction.purchaseDate) : nil
    }

    /// The end of a period after which the customer could not be charged; nil if the customer was, or nothing was stated.
    ///
    /// - Parameter isLast: Whether it is the last period of its purchase.
    func failedCharge(after transaction: RedeemedTransaction, isLast: Bool) -> Timestamp? {
        guard let statement = statement(about: transaction, isLast: isLast),
            statement.facts.bool(.isInBillingRetryPeriod) == true
                || statement.facts.integer(.expirationIntent) == Int64(ExpirationIntent.billingError.rawValue)
        else { return nil }
        return transaction.paidUntil
    }

    private func statement(about transaction: RedeemedTransaction, isLast: Bool) -> StatedRenewal? {
        guard isLast, let statement = statements[transaction.purchase],
            statement.counts(forPeriodFrom: transaction.purchaseDate, of: transaction.origin.store)
        else { return nil }
        return statement
    }
}

struct ExportedUser {
    let number: Int64
    /// Nil for an erased user.
    let issuer: String?
    let name: String?
    let firstSeenAt: Timestamp
    /// Nil if the token was never returned to anybody.
    let appAccountToken: String?
}
