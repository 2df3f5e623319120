import Catalog
import Foundation
import GRDB
import HTTPSupport
import Proofs

/// The external facts that a subscription depends on, at a moment.
package struct SubscriptionTerms: Sendable {
    fileprivate let configuration: StoreKitConfiguration
    fileprivate let settings: StoreSettings
    let now: Timestamp

    var storefront: Storefront { Storefront(countryCode: settings.storefront) ?? configuration.storefront }
    /// The storefront's currency, which may differ from the catalog's.
    var currency: String { storefront.currency }
    var timeRate: TimeRate { settings.timeRate }
    var isBillingFailing: Bool { settings.shouldEnterBillingRetryOnRenewal }
    var isGracePeriodEnabled: Bool { settings.isBillingGracePeriodEnabled }

    /// The product of an identifier; nil if it is not for sale.
    func product(_ identifier: String) -> Product? { configuration.product(identifier) }
}

extension StoreSettings {
    /// The terms under which the products of a configuration are sold.
    package func terms(of configuration: StoreKitConfiguration, at now: Timestamp) -> SubscriptionTerms {
        SubscriptionTerms(configuration: configuration, settings: self, now: now)
    }
}

/// One paid period of a subscription.
package struct SubscriptionCharge: Hashable, Sendable {
    package let productIdentifier: String
    package let quantity: Int
    /// Nil for a subscription that states no seats.
    package let seats: Seats?
    /// The price; with seats, the average price of one.
    package let price: Price
    package let offer: SubscriptionOffer?
    package let reason: TransactionReason
    package let startDate: Timestamp
    package let expiresDate: Timestamp
    /// Nil if the catalog has no billing plans of the product.
    package let billingPlanType: BillingPlanType?
    package let commitment: Commitment?
}

/// A change that follows from an event of a subscription. The store makes the changes in order.
package enum SubscriptionEffect: Hashable, Sendable {
    case charge(SubscriptionCharge)
    /// Seats are charged for the rest of the period.
    case addSeats(SubscriptionCharge)
    /// The previous period ends, because a higher subscription replaces it.
    case markUpgraded
    /// The paid period ends at another time.
    case setExpiresDate(Timestamp)
    /// The rest of the present period is paid back, for the named items; nil for all.
    case refundRest(ofItems: [String]?)
    case notify(NotificationTypeV2, Subtype?)
}

/// The SQL statements on subscriptions. They run inside the caller's transaction of the store's database.
struct SubscriptionRecords {
    let database: Database

    func save(_ subscription: CustomerSubscription) throws {
        try database.insert(
            [
                "original_transaction_id": subscription.originalTransactionIdentifier,
                "account": subscription.account, "group_id": subscription.groupIdentifier,
                "shared_original_transaction_id": subscription.sharedOriginalTransactionIdentifier,
                // A member's follows the purchaser's.
                "due_date": subscription.ownership == .purchased ? subscription.dueDate : nil,
                "record": try LocalRecord.text(subscription),
            ], into: "subscription", replacing: "original_transaction_id")
    }

    /// The first subscription that is due, of the accounts that follow the store's clock; of two at one moment, the older.
    func firstDue(until moment: Timestamp) throws -> CustomerSubscription? {
        try fetch("due_date <= \(moment) AND \(ClockRecords.follows(nil)) ORDER BY due_date, rowid LIMIT 1").first
    }

    /// The first subscription that is due, of the accounts with their own clocks; of two at one moment, the older.
    func firstDue(by clocks: ClockRecords) throws -> CustomerSubscription? {
        try fetch(
            """
            rowid = (
                SELECT subscription.rowid FROM account_clock CROSS JOIN subscription USING (account)
                WHERE due_date <= \(clocks.machineTime) + time_offset ORDER BY due_date, subscription.rowid LIMIT 1)
            """
        ).first
    }

    /// The earliest due date of the subscriptions of a clock's accounts.
    ///
    /// - Parameter account: The account; nil for all that follow the store's clock.
    func nextDueDate(of account: String?) throws -> Timestamp? {
        try SQLRequest<Timestamp>("SELECT min(due_date) FROM subscription WHERE \(ClockRecords.follows(account))")
            .fetchOne(database)
    }

    func delete(original identifier: String) throws {
        try database.execute(literal: "DELETE FROM subscription WHERE original_transaction_id = \(identifier)")
    }

    func subscription(original identifier: String) throws -> CustomerSubscription? {
        try fetch("original_transaction_id = \(identifier)").first
    }

    func subscription(of account: String, group: String) throws -> CustomerSubscription? {
        try fetch("account = \(account) AND group_id = \(group) AND shared_original_transaction_id IS NULL").first
    }

    /// The subscriptions of an account: those that it has bought, and those that follow other customers'.
    func subscriptions(of account: String) throws -> [CustomerSubscription] {
        try fetch("account = \(account) ORDER BY rowid")
    }

    func all() throws -> [CustomerSubscription] {
        try fetch("true ORDER BY rowid")
    }

    func fetch(_ condition: SQL) throws -> [CustomerSubscription] {
        try database.records("SELECT record FROM subscription WHERE \(condition)")
    }
}

extension Books {
    /// Writes a changed subscription and performs the effects in order. The members' subscriptions follow.
    func record(_ subscription: CustomerSubscription, _ effects: [SubscriptionEffect]) throws {
        try subscriptions.save(subscription)
        for effect in effects {
            switch effect {
            case .charge(let charge): try add(transaction(for: charge, of: subscription), to: subscription)
            case .addSeats(let charge): try addSeats(charge, to: subscription)
            case .markUpgraded: try changePeriod(of: subscription) { $0.isUpgraded = true }
            case .setExpiresDate(let date):
                try changePeriod(of: subscription) {
                    ($0.expiresDate, $0.commitment) = (date, subscription.commitment ?? $0.commitment)
                }
            case .refundRest(let skus): try refundRest(of: subscription, items: skus)
            case .notify(let type, let subtype): try notify(type, subtype, of: subscription)
            }
        }
        try follow(subscription, effects)
    }

    /// Adds a period. A member's is linked to the purchaser's latest.
    private func add(_ transaction: Transaction, to subscription: CustomerSubscription) throws {
        let purchased = try subscription.sharedOriginalTransactionIdentifier.flatMap(transactions.latest(original:))
        try transactions.add(transaction, sharing: purchased?.transactionIdentifier)
    }

    /// Sells a subscription's product to an account.
    ///
    /// - Returns: The transaction that the customer's queue shows: a new one if something was charged.
    /// - Throws: `PaymentFailure` for an offer that does not exist or that the customer is not eligible for, a billing plan that the
    ///   storefront does not have, a second subscription of the group if the developer's server described either, or a previous transaction
    ///   of another subscription.
    func subscribe(_ payment: Payment, _ product: Product, _ terms: Subscription, account: String) throws -> Transaction
    {
        let plan = payment.billingPlanType ?? .upFront
        guard plan == .upFront || storefront.sellsCommitments else {
            // The storefront has changed since the payment was added.
            throw PaymentFailure(error: .storeProductNotAvailable)
        }
        let known = try subscriptions.subscription(of: account, group: terms.groupIdentifier)
        var charge = payment.advancedCommerceCharge
        guard known?.hasEnded ?? true || charge == nil && known?.advancedCommerceCharge == nil else {
            // A request to modify it changes what the developer's server described.
            throw PaymentFailure(error: .paymentInvalid)
        }
        // "when you use the SubscriptionCreateRequest operation to resubscribe to the subscription and provide the previousTransactionID"
        // (developer.apple.com/documentation/advancedcommerceapi/requestinfo).
        if let previous = charge?.previousTransactionIdentifier {
            guard let known,
                try transactions.transaction(previous)?.originalTransactionIdentifier
                    == known.originalTransactionIdentifier
            else { throw PaymentFailure(error: .paymentInvalid) }
            charge?.previousTransactionIdentifier = nil
        }
        let offer = try offer(for: payment, terms, account: account, known: known)
        var (subscription, effects): (CustomerSubscription, [SubscriptionEffect])
        if let known {
            subscription = known
            effects = subscription.buy(
                product, terms, seats: payment.quantity, billed: plan, offer: offer, try self.terms(of: account))
        } else {
            (subscription, effects) = CustomerSubscription.first(
                product, terms, seats: payment.quantity, billed: plan, offer: offer,
                originalTransactionIdentifier: newTransactionIdentifier(), account: account,
                try self.terms(of: account))
        }
        subscription.appAccountToken = payment.appAccountToken ?? subscription.appAccountToken
        (subscription.advancedCommerceCharge, subscription.advancedCommerceRenewal) = (charge, charge?.second)
        try record(subscription, effects)
        guard let latest = try transactions.latest(original: subscription.originalTransactionIdentifier) else {
            throw StoreError.productNotFound(product.productIdentifier)
        }
        return latest
    }

    /// The offer of a payment. A promotional offer may need a signature. Each billing plan has its own offers.
    private func offer(
        for payment: Payment,
        _ terms: Subscription,
        account: String,
        known: CustomerSubscription?
    ) throws -> SubscriptionOffer? {
        let hadIntroductoryOffer = try transactions.transactions(of: account).contains {
            $0.subscriptionGroupIdentifier == terms.groupIdentifier && $0.offer?.kind == .introductory
                && $0.ownership == .purchased
        }
        let plan = payment.billingPlanType ?? .upFront
        let offer = try SubscriptionOffer.offer(
            payment.offer, among: terms.offers.filter { $0.billingPlanType ?? .upFront == plan },
            customer: known.eligibility, hadIntroductoryOffer: hadIntroductoryOffer)
        if let choice = payment.offer, let signature = choice.signature {
            try check(signature, of: choice, for: payment)
        }
        return offer
    }

    func transaction(for charge: SubscriptionCharge, of subscription: CustomerSubscription) throws
        -> Transaction
    {
        let original = try transactions.transaction(subscription.originalTransactionIdentifier)
        let storefront = subscription.storefront(terms)
        var transaction = Transaction(
            original == nil ? subscription.originalTransactionIdentifier : newTransactionIdentifier(),
            orderIdentifier: newOrderIdentifier(), account: subscription.account,
            productIdentifier: charge.productIdentifier, type: .autoRenewableSubscription,
            quantity: charge.quantity, price: Price(milliunits: charge.price.milliunits, currency: storefront.currency),
            storefrontCountryCode: storefront.countryCode, at: charge.startDate)
        transaction.originalTransactionIdentifier = subscription.originalTransactionIdentifier
        transaction.previousOriginalTransactionIdentifier = subscription.previousOriginalTransactionIdentifier
        transaction.webOrderLineItemIdentifier = randomness.digits(15, startingWith: "1")
        transaction.subscriptionGroupIdentifier = subscription.groupIdentifier
        transaction.originalPurchaseDate = original?.purchaseDate ?? charge.startDate
        (transaction.offer, transaction.reason) = (charge.offer, charge.reason)
        transaction.expiresDate = charge.expiresDate
        (transaction.billingPlanType, transaction.commitment) = (charge.billingPlanType, charge.commitment)
        transaction.seats = charge.seats
        (transaction.appAccountToken, transaction.ownership) = (subscription.appAccountToken, subscription.ownership)
        transaction.advancedCommerceCharge = subscription.advancedCommerceCharge
        return transaction
    }

    /// Lets the subscriptions of an account renew at the present prices of this store, in the present storefront, whatever the catalog
    /// and the settings are then.
    package func keepTerms(of account: String) throws {
        for var subscription in try subscriptions.subscriptions(of: account) where !subscription.hasEnded {
            guard let product = configuration.product(subscription.productIdentifier) else { continue }
            if subscription.advancedCommerceCharge == nil {
                subscription.agreedPrice = product.price(billed: subscription.billingPlanType)
            }
            subscription.agreedStorefront = storefront.countryCode
            try subscriptions.save(subscription)
        }
    }

    /// Changes the transactions of the present period.
    func changePeriod(of subscription: CustomerSubscription, _ body: (inout Transaction) -> Void) throws {
        for var transaction in try presentPeriod(of: subscription) {
            body(&transaction)
            try transactions.update(transaction)
        }
    }

    /// The transactions of the present period: one, and those that add seats to it.
    func presentPeriod(of subscription: CustomerSubscription) throws -> [Transaction] {
        let all = try transactions.transactions(original: subscription.originalTransactionIdentifier)
        return all.filter { $0.webOrderLineItemIdentifier == all.last?.webOrderLineItemIdentifier }
    }

    /// The sale of a transaction identifier.
    ///
    /// - Throws: `StoreError`, `saleNotFound`.
    package func sale(_ transactionIdentifier: String) throws -> Transaction {
        guard let transaction = try transactions.transaction(transactionIdentifier) else {
            throw StoreError.saleNotFound(transactionIdentifier)
        }
        return transaction
    }

    /// The subscription of a transaction.
    ///
    /// - Throws: `StoreError`, `saleNotFound` or `subscriptionNotFound`.
    func subscription(with transactionIdentifier: String) throws -> CustomerSubscription {
        let transaction = try sale(transactionIdentifier)
        guard
            let subscription = try subscriptions.subscription(original: transaction.originalTransactionIdentifier)
        else { throw StoreError.subscriptionNotFound(transactionIdentifier) }
        return subscription
    }
}
