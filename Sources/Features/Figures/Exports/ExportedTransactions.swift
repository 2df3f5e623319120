import Proofs

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
        let purchases = Dictionary(grouping: bought, by: \.purchase).mapValues { transactions in
            Self.periods(
                of: transactions.filter(\.isSubscription).sorted {
                    ($0.purchaseDate, $0.sequence) < ($1.purchaseDate, $1.sequence)
                })
        }
        return bought.map { transaction in
            let periods = purchases[transaction.purchase] ?? []
            let index = periods.firstIndex { $0.contains { $0.sequence == transaction.sequence } }
            // Added seats are no payment after the one before it.
            let beginsPeriod = index.map { periods[$0].first?.sequence == transaction.sequence } ?? false
            let previous = index.flatMap { beginsPeriod && $0 > 0 ? periods[$0 - 1].first : nil }
            let isLast = index == periods.indices.last
            return ExportedTransaction(
                user: user, transaction: transaction, terms: PurchasePeriod.Terms(transaction.facts),
                app: apps[transaction.appNumber], product: product(transaction.productIdentifier),
                items: items[transaction.sequence] ?? [],
                number: index.map { $0 + 1 }, previous: previous,
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
    /// The columns with their names, in their order.
    static let columns: [(name: String, value: @Sendable (ExportedTransaction) -> ExportValue)] = [
        ("rc_original_app_user_id", { .text($0.user.name) }),
        ("user_issuer", { .text($0.user.issuer) }),
        ("first_seen_time", { .date($0.user.firstSeenAt) }),
        ("app", { .text($0.app) }),
        ("origin", { .text($0.transaction.origin.rawValue) }),
        ("store", { .text($0.transaction.origin.store.rawValue) }),
        ("is_sandbox", { .bool(sandboxOrigins.contains($0.transaction.origin)) }),
        ("country", { .text($0.facts.text(.storefront)) }),
        ("product_identifier", { .text($0.transaction.productIdentifier) }),
        ("product_display_name", { .text($0.productName) }),
        ("product_duration", { .text($0.product?.subscription?.period.description) }),
        ("quantity", { .integer(Int64($0.transaction.quantity)) }),
        ("store_transaction_id", { .text($0.transaction.transactionIdentifier) }),
        ("original_store_transaction_id", { .text($0.transaction.originalTransactionIdentifier) }),
        ("start_time", { .date($0.transaction.purchaseDate) }),
        ("end_time", { .date($0.transaction.paidUntil) }),
        ("grace_period_end_time", { .date($0.transaction.graceEndsAt) }),
        ("effective_end_time", { .date($0.effectiveEnd) }),
        ("refunded_at", { .date($0.transaction.revocationDate) }),
        ("unsubscribe_detected_at", { .date($0.turnedOff) }),
        ("billing_issues_detected_at", { .date($0.failedCharge) }),
        ("is_auto_renewable", { .bool($0.number != nil) }),
        ("is_trial_period", { .bool($0.terms.isTrial) }),
        ("is_in_intro_offer_period", { .bool($0.terms.isIntroductory && !$0.terms.isTrial) }),
        ("is_trial_conversion", { .bool($0.isTrialConversion) }),
        ("renewal_number", { .integer($0.number.map(Int64.init)) }),
        ("offer", { .text($0.facts.text(.offerIdentifier)) }),
        ("offer_type", { .integer($0.facts.integer(.offerType)) }),
        ("ownership_type", { .text($0.facts.text(.inAppOwnershipType)) }),
        ("purchased_currency", { .text($0.facts.text(.currency)) }),
        // A refund leaves nothing of the price, except of what was paid.
        (
            "price_in_purchased_currency",
            { row in .amount(row.transaction.paidAmount.map { row.transaction.revocationDate == nil ? $0 : 0 }) }
        ),
        ("purchase_price_in_purchased_currency", { .amount($0.transaction.paidAmount) }),
        ("entitlement_identifiers", { .text($0.itemNames) }),
        ("redeemed_at", { .date($0.transaction.redeemedAt) }),
        ("updated_at", { .date($0.facts.date(.signedDate)) }),
    ]

    private static let sandboxOrigins = FigureQuery.Environment.sandbox.origins

    let user: ExportedUser
    let transaction: RedeemedTransaction
    let terms: PurchasePeriod.Terms
    /// The bundle identifier.
    let app: String?
    let product: Product?
    let items: [Item]
    /// The number of the period; nil for what is no subscription.
    let number: Int?
    /// The period before; nil for the first, and for added seats.
    let previous: RedeemedTransaction?
    /// The date at which the customer turned off renewal; nil if it renews.
    let turnedOff: Timestamp?
    /// The end after which the customer could not be charged; nil if the customer was.
    let failedCharge: Timestamp?

    var values: [ExportValue] { Self.columns.map { $0.value(self) } }

    private var facts: TransactionFacts { transaction.facts }

    private var effectiveEnd: Timestamp? {
        let ends = [transaction.paidUntil, transaction.graceEndsAt].compactMap(\.self).max()
        return [ends, transaction.revocationDate].compactMap(\.self).min()
    }

    private var isTrialConversion: Bool {
        guard let previous else { return false }
        return !terms.isTrial && PurchasePeriod.Terms(previous.facts).isTrial
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

    /// The last statements, by the purchase.
    var statements: [PurchaseOfUser: StatedRenewal] = [:]
    /// The dates at which renewal was turned off, by the period; absent if it was turned on again.
    var turnedOff: [Period: Timestamp] = [:]

    /// The date at which the customer turned off the renewal of a period; nil if it renews, or nothing was stated.
    ///
    /// - Parameter isLast: Whether it is the last period of its purchase.
    func turnedOff(_ transaction: RedeemedTransaction, isLast: Bool) -> Timestamp? {
        let period = Period(origin: transaction.origin, transaction: ByteKey(transaction.transactionIdentifier))
        if let date = turnedOff[period] { return date }
        // A purchase that had ended when it became known has no history.
        guard let statement = statement(about: transaction, isLast: isLast), statement.willRenew == false else {
            return nil
        }
        switch Self.intent(statement) {
        case nil, .customerCancelled, .customerDidNotConsentToPriceIncrease: return statement.statedAt
        case .billingError, .productNotAvailable, .other: return nil
        }
    }

    /// The end of a period after which the customer could not be charged; nil if the customer was, or nothing was stated.
    ///
    /// - Parameter isLast: Whether it is the last period of its purchase.
    func failedCharge(after transaction: RedeemedTransaction, isLast: Bool) -> Timestamp? {
        guard let statement = statement(about: transaction, isLast: isLast),
            statement.facts.bool(.isInBillingRetryPeriod) == true || Self.intent(statement) == .billingError
        else { return nil }
        return transaction.paidUntil
    }

    private func statement(about transaction: RedeemedTransaction, isLast: Bool) -> StatedRenewal? {
        guard isLast, let statement = statements[transaction.purchase],
            statement.counts(forPeriodFrom: transaction.purchaseDate)
        else { return nil }
        return statement
    }

    private static func intent(_ statement: StatedRenewal) -> ExpirationIntent? {
        statement.facts.integer(.expirationIntent).flatMap { Int(exactly: $0) }.flatMap(ExpirationIntent.init)
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
