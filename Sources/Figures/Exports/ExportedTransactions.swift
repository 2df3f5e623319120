import Commerce
import Entitlements
import Receipts

/// The rows of a user's transactions. Some columns depend on the user's other transactions: the number of the renewal, and the
/// first payment after a trial.
struct ExportedTransactions {
    let user: ExportedUser
    /// The bundle identifiers of apps.
    let apps: [Int64: String]
    /// The items by the numbers of the transactions.
    let items: [Int64: [Item]]

    let renewals: ExportedRenewals
    /// Returns a product of the catalog; nil if the catalog has none of the identifier.
    let product: (String) -> Product?

    /// - Parameter end: The moment after which redeemed transactions are left out.
    func rows(of bought: [BoughtTransaction], until end: Timestamp) -> [[ExportValue]] {
        let bought = bought.filter { $0.transaction.redeemedAt <= end }.sorted {
            $0.transaction.sequence < $1.transaction.sequence
        }
        let purchases = Dictionary(grouping: bought) { ExportedPurchase($0) }.mapValues { transactions in
            Self.periods(
                of: transactions.map(\.transaction).filter(Self.isSubscription).sorted {
                    ($0.purchaseDate, $0.sequence) < ($1.purchaseDate, $1.sequence)
                })
        }
        return bought.map { transaction in
            let periods = purchases[ExportedPurchase(transaction)] ?? []
            let index = periods.firstIndex { $0.contains { $0.sequence == transaction.transaction.sequence } }
            // What adds seats to a period is no payment after the one before it.
            let beginsPeriod = index.map { periods[$0].first?.sequence == transaction.transaction.sequence } ?? false
            let previous = index.flatMap { beginsPeriod && $0 > 0 ? periods[$0 - 1].first : nil }
            return row(
                transaction, number: index.map { $0 + 1 }, after: previous, isLast: index == periods.indices.last)
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

    /// - Parameters:
    ///   - number: The number of the period; nil for what is no subscription.
    ///   - previous: The period before; nil for the first, and for added seats.
    ///   - isLast: Whether the period is the last.
    private func row(
        _ bought: BoughtTransaction,
        number: Int?,
        after previous: RedeemedTransaction?,
        isLast: Bool
    ) -> [ExportValue] {
        let (transaction, facts) = (bought.transaction, bought.transaction.facts)
        let product = product(transaction.productIdentifier)
        let isTrial = Self.isTrial(transaction)
        let isIntroductory =
            facts.integer(.offerType) == Int64(OfferType.introductoryOffer.rawValue)
            || facts.bool(.isInIntroductoryOfferPeriod) == true
        let ends = [transaction.paidUntil, transaction.graceEndsAt].compactMap(\.self).max()
        let effectiveEnd = [ends, transaction.revocationDate].compactMap(\.self).min()
        let items = items[transaction.sequence] ?? []
        let isSubscription = number != nil
        let price = transaction.paidAmount
        return [
            .text(user.name), .text(user.issuer), .date(user.firstSeenAt), .text(apps[bought.app]),
            .text(transaction.origin.rawValue), .text("app_store"),
            .bool(FigureQuery.Environment.sandbox.origins.contains(transaction.origin)),
            .text(facts.text(.storefront)), .text(transaction.productIdentifier),
            .text(product.flatMap(Self.displayName)), .text(product?.subscription?.period.description),
            .integer(Int64(transaction.quantity)), .text(transaction.transactionIdentifier),
            .text(transaction.originalTransactionIdentifier), .date(transaction.purchaseDate),
            .date(transaction.paidUntil), .date(transaction.graceEndsAt), .date(effectiveEnd),
            .date(transaction.revocationDate),
            .date(isSubscription ? renewals.turnedOff(bought, isLast: isLast) : nil),
            .date(isSubscription ? renewals.failedCharge(after: bought, isLast: isLast) : nil),
            .bool(isSubscription), .bool(isTrial),
            .bool(isIntroductory && !isTrial), .bool(!isTrial && previous.map(Self.isTrial) == true),
            .integer(number.map(Int64.init)), .text(facts.text(.offerIdentifier)), .integer(facts.integer(.offerType)),
            .text(facts.text(.inAppOwnershipType)), .text(facts.text(.currency)),
            // A refund leaves nothing of the price, except of what was paid.
            .amount(transaction.revocationDate == nil ? price : price.map { _ in 0 }), .amount(price),
            items.isEmpty
                ? .null : .text(items.sorted().map { "\($0.collection)/\($0.number)" }.joined(separator: ";")),
            .date(transaction.redeemedAt), .date(facts.date(.signedDate)),
        ]
    }

    /// The name in English, or in the first language there is.
    private static func displayName(_ product: Product) -> String? {
        (product.localizations.first { $0.language == "en" } ?? product.localizations.first)?.displayName
    }

    private static func isSubscription(_ transaction: RedeemedTransaction) -> Bool {
        transaction.facts.text(.type).map { $0 == ProductType.autoRenewableSubscription.rawValue }
            ?? (transaction.facts[.expiresDate] != nil)
    }

    private static func isTrial(_ transaction: RedeemedTransaction) -> Bool {
        transaction.facts.text(.offerDiscountType) == OfferDiscountType.freeTrial.rawValue
            || transaction.facts.bool(.isTrialPeriod) == true
    }
}
