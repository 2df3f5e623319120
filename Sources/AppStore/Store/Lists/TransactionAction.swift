import Catalog
import GRDB
import Proofs

/// A tester's action on a transaction, or on its subscription (StoreKitTest, `SKTestSession`).
///
/// The sandbox's routes, the commands and the console's buttons follow from the rules of the cases.
package enum TransactionAction: String, Sendable, CaseIterable {
    case requestRefund
    case refund
    case declineRefund
    case reverseRefund
    case share
    case revokeFamilySharing
    case forceRenewal
    case failRenewal
    case resolveBillingIssue
    case expire
    case turnAutoRenewOff
    case turnAutoRenewOn
    case moveSubscription
    case changeSeats
    case acceptInvitation
    case revokeSeat
    case requestPriceIncrease
    case consentToPriceIncrease
    case declinePriceIncrease
    case delete

    /// The values that an action may take.
    package struct Parameters: Sendable {
        package var requestReason = ConsumptionRequestReason.other
        package var refundReason = RevocationReason.refundedForOtherReason
        /// The number of refunded seats; nil for the whole transaction.
        package var refundedSeats: Int?
        /// True to refund only what is left of the purchase.
        package var isRefundProrated = false
        /// The part to refund, in thousandths of a percent; nil for all, or for what is left.
        package var refundedPercentage: Int?
        /// The account of the family member, or of the member who gets a seat.
        package var member = ""
        /// True if a grace period follows the failed renewal, and false if the billing retry period does.
        package var hasGracePeriod = false
        /// The number of seats after the change.
        package var seats = 1
        /// The higher price, in milliunits of the storefront's currency.
        package var price: Int64 = 0
        /// True if the customer must consent to the higher price. Without consent, the subscription does not renew.
        package var needsConsent = true

        package init() {}
    }

    /// The last segment of the action's route in the sandbox; nil if it has none.
    package var path: String? { rule.path }
    /// The title of the action, in English.
    package var title: String { rule.title }

    struct Rule {
        let path: String?
        let title: String
        /// The call of StoreKit whose simulated error stops the action.
        let call: StoreKitCall?
        /// True if the action changes something now.
        let isPossible: (ListedTransaction) -> Bool
        let effect: Effect

        init(
            _ path: String?,
            _ title: String,
            _ call: StoreKitCall? = nil,
            if isPossible: @escaping (ListedTransaction) -> Bool,
            _ effect: Effect
        ) {
            (self.path, self.title, self.call) = (path, title, call)
            (self.isPossible, self.effect) = (isPossible, effect)
        }
    }

    enum Effect {
        case refund((RefundEffects, Books, Parameters) throws -> [RefundEffect])
        case change((inout CustomerSubscription, Books, Parameters) throws -> [SubscriptionEffect])
        case other((Books, String, Parameters) throws -> Void)
    }

    var rule: Rule {
        switch self {
        case .requestRefund:
            Rule(
                "refundRequest", "Request a refund as the customer", .refundRequestSheet,
                if: { !$0.isRevoked && $0.isPurchased },
                .refund { decision, _, values in try decision.request(reason: values.requestReason) })
        case .refund:
            Rule(
                "refund", "Refund", if: { !$0.isRevoked && $0.isPurchased },
                .refund {
                    try $0.refund(
                        seats: $2.refundedSeats, isProrated: $2.isRefundProrated, percentage: $2.refundedPercentage,
                        reason: $2.refundReason, at: $1.now)
                })
        case .declineRefund:
            Rule(
                "refundDecline", "Decline a refund request", if: \.isRefundRequested,
                .refund { decision, _, _ in try decision.decline() })
        case .reverseRefund:
            Rule(
                "refundReversal", "Reverse the refund", if: \.transaction.isRefunded,
                .refund { decision, books, _ in try decision.reverse(at: books.now) })
        case .share:
            Rule(
                "share", "Share with a family member", if: \.isShareable,
                .other { try $0.share($1, with: $2.member) })
        case .revokeFamilySharing:
            Rule(
                "familyRevocation", "End family sharing",
                if: { !$0.isRevoked && $0.transaction.ownership == .familyShared },
                .other { books, sale, _ in try books.endSharing(sale) })
        case .forceRenewal:
            Rule(
                "renewal", "Renew now", if: { $0.isActive && !$0.isPriceIncreasePending },
                .change { subscription, books, _ in try subscription.forceRenewal(books.terms) })
        case .failRenewal:
            Rule(
                nil, "Let the renewal fail now",
                if: { $0.isActive && $0.purchased?.willAutoRenew == true && !$0.isPriceIncreasePending },
                .change { try $0.failRenewal(hasGracePeriod: $2.hasGracePeriod, $1.terms) })
        case .resolveBillingIssue:
            Rule(
                "billingResolution", "Recover: charge the customer",
                if: { $0.purchased?.status == .billingRetry || $0.isInGracePeriod },
                .change { subscription, books, _ in try subscription.recover(books.terms) })
        case .expire:
            Rule(
                "expiry", "Expire now", if: { $0.isActive || $0.isInGracePeriod },
                .change { subscription, books, _ in try subscription.expireNow(at: books.now) })
        case .turnAutoRenewOff:
            Rule(
                "cancellation", "Turn automatic renewal off", .manageSubscriptionsSheet, if: \.isRenewing,
                .change { subscription, _, _ in try subscription.setAutoRenew(false) })
        case .turnAutoRenewOn:
            Rule(
                "resumption", "Turn automatic renewal on", .manageSubscriptionsSheet,
                if: { $0.isActive && !$0.isRenewing },
                .change { subscription, _, _ in try subscription.setAutoRenew(true) })
        case .moveSubscription:
            Rule(
                "move", "Move into a bundle or out of one", if: { $0.purchased?.mayMove == true },
                .other { books, sale, _ in try books.moveSubscription(with: sale) })
        case .changeSeats:
            Rule(
                "seats", "Change the number of seats", if: { $0.isActive && $0.isRenewing && $0.hasSeats },
                .other { try $0.changeSeats(of: $1, to: $2.seats) })
        case .acceptInvitation:
            Rule(
                "invitation", "Accept an invitation to a seat", if: \.hasFreeSeat,
                .other { try $0.acceptInvitation(to: $1, by: $2.member) })
        case .revokeSeat:
            Rule(
                "seatRevocation", "End the seat",
                if: { $0.transaction.ownership == .assigned && $0.subscription?.hasEnded == false },
                .other { books, sale, _ in try books.revokeSeat(of: try books.subscription(with: sale)) })
        case .requestPriceIncrease:
            Rule(
                "priceIncrease", "Raise the price", if: { $0.isActive && $0.isRenewing },
                .change { subscription, books, values in
                    let price = Price(milliunits: values.price, currency: books.terms.currency)
                    return try subscription.requestPriceIncrease(
                        to: price, needsConsent: values.needsConsent, books.terms)
                })
        case .consentToPriceIncrease:
            Rule(
                "priceConsent", "Consent to the price increase", if: \.isPriceIncreasePending,
                .change { subscription, _, _ in try subscription.consentToPriceIncrease() })
        case .declinePriceIncrease:
            Rule(
                "priceRefusal", "Decline the price increase", if: \.isPriceIncreasePending,
                .change { subscription, _, _ in try subscription.declinePriceIncrease() })
        case .delete: Rule(nil, "Delete", if: { _ in true }, .other { books, sale, _ in try books.delete(sale) })
        }
    }
}

extension ListedTransaction {
    /// The actions that change something now, in the order of their cases.
    package var actions: [TransactionAction] { TransactionAction.allCases.filter { $0.rule.isPossible(self) } }

    fileprivate var isRevoked: Bool { transaction.revocation != nil }
    fileprivate var isPurchased: Bool { transaction.ownership == .purchased }
    /// The subscription, if the account has bought it. A member's follows the purchaser's.
    fileprivate var purchased: SubscriptionSummary? { isPurchased ? subscription : nil }
    fileprivate var isActive: Bool { purchased?.status == .active }
    fileprivate var isInGracePeriod: Bool { purchased?.status == .billingGracePeriod }
    fileprivate var isRenewing: Bool { purchased?.isAutoRenewing == true }
    fileprivate var hasSeats: Bool { purchased?.isSoldWithSeats == true }
    fileprivate var isPriceIncreasePending: Bool { purchased?.priceIncrease?.isAccepted == false }
}

extension Store {
    /// Performs an action on a transaction, or on the subscription that it belongs to.
    package func perform(
        _ action: TransactionAction,
        _ values: TransactionAction.Parameters = .init(),
        on transactionIdentifier: String
    ) throws(StoreError) {
        try write { books in
            let rule = action.rule
            let books = try books.of(try books.payer(of: transactionIdentifier))
            switch rule.effect {
            case .refund(let decide):
                if let call = rule.call { try books.throwSimulatedError(call) }
                try books.decideRefund(of: transactionIdentifier) { try decide($0, books, values) }
            case .change(let change):
                var subscription = try books.purchasedSubscription(with: transactionIdentifier)
                if let call = rule.call { try books.throwSimulatedError(call) }
                let effects = try change(&subscription, books, values)
                try books.record(subscription, effects)
            case .other(let perform): try perform(books, transactionIdentifier, values)
            }
        }
    }
}

extension Books {
    /// Deletes one transaction and its repetitions, or the whole subscription (StoreKitTest, `deleteTransaction`). Members
    /// lose theirs, too.
    fileprivate func delete(_ transactionIdentifier: String) throws {
        try transactions.storeLastChange()
        let original = try sale(transactionIdentifier).originalTransactionIdentifier
        for member in try transactions.originals(sharing: original) {
            // A member may have a seat in another purchaser's subscription since.
            let followed = try subscriptions.subscription(original: member)?.sharedOriginalTransactionIdentifier
            if followed == nil || followed == original { try delete(original: member) }
        }
        try delete(original: original)
    }

    private func delete(original: String) throws {
        let sold: SQL = "(SELECT transaction_id FROM app_store_transaction WHERE original_transaction_id = \(original))"
        try database.execute(literal: "DELETE FROM payment_transaction WHERE transaction_id IN \(sold)")
        try database.execute(literal: "DELETE FROM consumption WHERE transaction_id IN \(sold)")
        try database.execute(literal: "DELETE FROM seat_claim WHERE original_transaction_id = \(original)")
        try database.execute(literal: "DELETE FROM subscription WHERE original_transaction_id = \(original)")
        try database.execute(literal: "DELETE FROM app_store_transaction WHERE original_transaction_id = \(original)")
    }
}
