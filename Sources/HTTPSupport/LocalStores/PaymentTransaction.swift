import Catalog
import Foundation
import Proofs
import Vocabulary

/// A transaction in the payment queue (SKPaymentTransaction).
public struct PaymentTransaction: Hashable, Sendable {
    /// The identifiers of a paid or restored transaction.
    public struct Purchase: Hashable, Sendable {
        public let transactionIdentifier: String
        /// The first purchase of the same product. It is the transaction itself if it is the first.
        public let originalTransactionIdentifier: String

        public init(transactionIdentifier: String, originalTransactionIdentifier: String) {
            self.transactionIdentifier = transactionIdentifier
            self.originalTransactionIdentifier = originalTransactionIdentifier
        }
    }

    /// The store's number of the transaction, assigned when its payment is added (SKTestTransaction.identifier).
    public let identifier: Int64
    public let payment: Payment
    public let state: PaymentTransactionState
    /// The error of a failed transaction.
    public let error: SKErrorCode?
    /// The purchase of a purchased or restored transaction. It remains after the transaction is finished.
    public var purchase: Purchase? { purchases.first }
    /// The purchase, at most one. The array keeps a transaction narrow enough for the result of a throwing function
    /// (swiftlang/swift#90477).
    private let purchases: [Purchase]

    public init(
        identifier: Int64,
        payment: Payment,
        state: PaymentTransactionState,
        error: SKErrorCode?,
        purchase: Purchase?
    ) {
        self.identifier = identifier
        self.payment = payment
        self.state = state
        self.error = error
        purchases = purchase.map { [$0] } ?? []
    }
}

/// A request for a purchase (SKPayment).
public struct Payment: Hashable, Sendable {
    /// The quantities that StoreKit accepts.
    public static let quantities = 1...10

    public let productIdentifier: String
    public let quantity: Int
    /// The account token that the app's server assigned to the user (`appAccountToken`).
    public let appAccountToken: UUID?
    /// The billing plan of a subscription (StoreKit's purchase option `billingPlanType`); nil for the plan that is billed up front.
    public let billingPlanType: BillingPlanType?
    /// The requested offer. Nil for the standard price, or for an introductory offer if the customer is eligible.
    public var offer: OfferChoice? { offers.first }
    /// The purchase that the developer's server describes. Nil for a product of the App Store.
    public var advancedCommerceCharge: AdvancedCommerceCharge? { charges.first }
    /// The offer and the charge, at most one of each. The arrays keep a transaction small enough for the result of a throwing function.
    private let offers: [OfferChoice]
    private let charges: [AdvancedCommerceCharge]

    /// A subscription offer that an app requests.
    public struct OfferChoice: Hashable, Sendable, Codable {
        public let kind: SubscriptionOffer.Kind
        /// The identifier. For an offer code, its reference name.
        public let identifier: String
        /// The signature of a promotional offer. Nil if the store treats the offer as signed.
        public let signature: PromotionalOfferSignature?
        /// False for an introductory offer that the developer's server denies the customer.
        public let isAllowed: Bool

        public init(kind: SubscriptionOffer.Kind, identifier: String, signature: PromotionalOfferSignature? = nil) {
            self.init(kind, identifier, signature, isAllowed: true)
        }

        private init(
            _ kind: SubscriptionOffer.Kind, _ identifier: String, _ signature: PromotionalOfferSignature?,
            isAllowed: Bool
        ) {
            (self.kind, self.identifier, self.signature, self.isAllowed) = (kind, identifier, signature, isAllowed)
        }

        /// The introductory offer, about which the developer's server decides instead of the App Store (StoreKit's purchase option
        /// `introductoryOfferEligibility(compactJWS:)`).
        public static func introductory(isAllowed: Bool) -> OfferChoice {
            OfferChoice(.introductory, "", nil, isAllowed: isAllowed)
        }
    }

    public init(
        productIdentifier: String,
        quantity: Int = 1,
        appAccountToken: UUID? = nil,
        billingPlanType: BillingPlanType? = nil,
        offer: OfferChoice? = nil,
        advancedCommerceCharge: AdvancedCommerceCharge? = nil
    ) {
        self.productIdentifier = productIdentifier
        self.quantity = quantity
        self.appAccountToken = appAccountToken
        self.billingPlanType = billingPlanType
        offers = offer.map { [$0] } ?? []
        charges = advancedCommerceCharge.map { [$0] } ?? []
    }

    public func with(_ offer: OfferChoice) -> Payment {
        Payment(
            productIdentifier: productIdentifier, quantity: quantity, appAccountToken: appAccountToken,
            billingPlanType: billingPlanType, offer: offer, advancedCommerceCharge: advancedCommerceCharge)
    }

    /// The same payment for what the developer's server describes.
    ///
    /// - Parameter token: The account token that the server names; nil for that of the payment.
    public func with(_ charge: AdvancedCommerceCharge, appAccountToken token: UUID? = nil) -> Payment {
        Payment(
            productIdentifier: productIdentifier, quantity: quantity, appAccountToken: token ?? appAccountToken,
            billingPlanType: billingPlanType, offer: offer, advancedCommerceCharge: charge)
    }
}

/// The state of a transaction in the payment queue (SKPaymentTransactionState). StoreKit shows `finished` as removal
/// from the queue.
public enum PaymentTransactionState: String, Sendable, Codable, CaseIterable {
    case purchasing
    case deferred
    case purchased
    case failed
    case restored
    case finished

    /// Returns the state after an event.
    ///
    /// - Throws: `IllegalPaymentTransition` if StoreKit does not allow the event in this state, such as finishing a
    ///   transaction in the state `purchasing`.
    public func after(_ event: PaymentTransactionEvent) throws(IllegalPaymentTransition) -> PaymentTransactionState {
        switch (self, event) {
        case (.purchasing, .purchase), (.deferred, .approve): .purchased
        case (.purchasing, .fail), (.deferred, .decline): .failed
        case (.purchasing, .awaitApproval): .deferred
        case (.purchased, .finish), (.failed, .finish), (.restored, .finish): .finished
        default: throw IllegalPaymentTransition(state: self, event: event)
        }
    }

    /// True if the app sees the transaction and must finish it.
    public var isAwaitingFinish: Bool {
        switch self {
        case .purchased, .failed, .restored: true
        case .purchasing, .deferred, .finished: false
        }
    }
}

/// An event that StoreKit does not allow in a transaction's state.
public struct IllegalPaymentTransition: CodedError, RuledError, Equatable {
    public let state: PaymentTransactionState
    public let event: PaymentTransactionEvent

    public init(state: PaymentTransactionState, event: PaymentTransactionEvent) {
        self.state = state
        self.event = event
    }

    public var code: String { rule.code }
    public var message: String { rule.sentence }

    package var rule: ErrorRule {
        ErrorRule("illegalTransition", .conflict, hasReason: true, sentence, korean: "거래의 지금 상태에서는 할 수 없는 작업입니다.")
    }

    private var sentence: String {
        switch event {
        case .approve, .decline:
            "Only a deferred transaction can be \(event.rawValue)d. This transaction is \(state.rawValue)."
        case .finish where state == .finished: "The transaction is already finished."
        default: "The state \(state.rawValue) of the transaction does not allow the event \(event.rawValue)."
        }
    }
}

/// An event of a transaction in the payment queue.
public enum PaymentTransactionEvent: String, Sendable, CaseIterable {
    /// The customer paid.
    case purchase
    /// The payment failed with an `SKErrorCode`.
    case fail
    /// The payment awaits approval (Ask to Buy).
    case awaitApproval
    case approve
    case decline
    /// The app has handled the transaction (`finishTransaction`).
    case finish
}

/// A purchase that the developer's server describes, while the App Store knows a generic product in its place (Advanced Commerce API,
/// `OneTimeChargeCreateRequest` and `SubscriptionCreateRequest`), or a change of such a subscription.
public struct AdvancedCommerceCharge: Hashable, Sendable, Codable {
    /// Something that is bought.
    public struct Item: Hashable, Sendable, Codable {
        /// The developer's identifier of the product.
        public var sku: String
        public var displayName: String
        public var description: String
        /// In milliunits of the currency.
        public var price: Int64
        /// The amount that the transaction charged for the item; nil for its price.
        package var paid: Int64?
        /// A lower price for this period; nil for the item's own.
        package var offer: Offer?
        /// A higher price of later periods, as the next period has the item.
        package var priceIncrease: PriceIncrease?
        /// The refunds of the item in its transaction; nil for none.
        package var refunds: [Refund]?
        /// The date at which the item was taken back alone; nil if it was not.
        package var revokedAt: Timestamp?

        public init(sku: String, displayName: String, description: String, price: Int64) {
            (self.sku, self.displayName, self.description, self.price) = (sku, displayName, description, price)
        }

        /// The amount of this period.
        package var charged: Int64 { paid ?? offer?.price ?? price }
    }

    /// A lower price of an item for its first periods (Advanced Commerce API, `Offer`).
    package struct Offer: Hashable, Sendable, Codable {
        /// The length of a period under the offer.
        package let period: SubscriptionPeriod
        package let periodCount: Int
        /// In milliunits of the currency.
        package let price: Int64
        package let reason: AdvancedCommerceOfferReason
        /// The number of periods that have the offer, from this one on.
        package var periodsLeft: Int

        package init(
            period: SubscriptionPeriod, periodCount: Int, price: Int64, reason: AdvancedCommerceOfferReason
        ) {
            (self.period, self.periodCount, self.price, self.reason) = (period, periodCount, price, reason)
            periodsLeft = periodCount
        }
    }

    /// A higher price of an item (App Store Server API, `advancedCommercePriceIncreaseInfo`).
    package struct PriceIncrease: Hashable, Sendable, Codable {
        package enum Status: String, Sendable, Codable {
            case scheduled = "SCHEDULED"
            case pending = "PENDING"
            case accepted = "ACCEPTED"
        }

        package let price: Int64
        package let needsConsent: Bool
        /// The items that end with this one if the customer does not consent.
        package let dependentSKUs: [String]
        package var status: Status

        package init(price: Int64, needsConsent: Bool, dependentSKUs: [String], status: Status) {
            (self.price, self.needsConsent, self.dependentSKUs) = (price, needsConsent, dependentSKUs)
            self.status = status
        }
    }

    /// Money that was paid back of an item (App Store Server API, `advancedCommerceRefund`).
    package struct Refund: Hashable, Sendable, Codable {
        package let amount: Int64
        package let date: Timestamp
        package let reason: String
        package let type: String

        package init(amount: Int64, date: Timestamp, reason: String, type: String) {
            (self.amount, self.date, self.reason, self.type) = (amount, date, reason, type)
        }
    }

    /// A subscription to all items.
    public struct Terms: Hashable, Sendable, Codable {
        public var displayName: String
        public var description: String
        public var period: SubscriptionPeriod

        public init(displayName: String, description: String, period: SubscriptionPeriod) {
            (self.displayName, self.description, self.period) = (displayName, description, period)
        }
    }

    /// One for a one-time charge, one or more for a subscription, none for a change.
    public var items: [Item]
    /// Nil for a one-time charge.
    public var terms: Terms?
    public let currency: String
    public var taxCode: String
    /// The identifier of the request, as the developer's server wrote it.
    public var requestReferenceIdentifier: String
    /// The change of a subscription that the customer has; nil for a new purchase.
    package var change: AdvancedCommerceChange?
    /// A transaction of the ended subscription that the customer has again (Advanced Commerce API, `previousTransactionId`); nil for none.
    package var previousTransactionIdentifier: String?

    public init(
        items: [Item],
        terms: Terms? = nil,
        currency: String,
        taxCode: String,
        requestReferenceIdentifier: String
    ) {
        (self.items, self.terms, self.currency) = (items, terms, currency)
        (self.taxCode, self.requestReferenceIdentifier) = (taxCode, requestReferenceIdentifier)
    }

    public var price: Price { Price(milliunits: items.reduce(0) { $0 + $1.charged }, currency: currency) }
}

/// The reason of an offer on an item (Advanced Commerce API, `Offer`, `reason`).
package enum AdvancedCommerceOfferReason: String, Sendable, Codable, CaseIterable {
    case acquisition = "ACQUISITION"
    case retention = "RETENTION"
    case winBack = "WIN_BACK"
}

/// A change of a subscription that the developer's server described (Advanced Commerce API, `SubscriptionModifyInAppRequest` and
/// `SubscriptionReactivateInAppRequest`).
package struct AdvancedCommerceChange: Hashable, Sendable, Codable {
    package typealias Item = AdvancedCommerceCharge.Item

    /// An item in the place of another. Its `paid` is the prorated price that the request states.
    package struct Replacement: Hashable, Sendable, Codable {
        package let currentSKU: String
        package let item: Item
        package let isImmediate: Bool

        package init(of currentSKU: String, by item: Item, isImmediate: Bool) {
            (self.currentSKU, self.item, self.isImmediate) = (currentSKU, item, isImmediate)
        }
    }

    package struct Modification: Hashable, Sendable, Codable {
        package var retainsBillingCycle = true
        /// The `paid` of an item is the prorated price that the request states.
        package var added: [Item] = []
        package var replaced: [Replacement] = []
        package var removed: [String] = []
        /// Nil to keep the period.
        package var period: SubscriptionPeriod?
        package var displayName: String?
        package var description: String?
        package var describesAtOnce = true
        package var taxCode: String?

        package init() {}
    }

    package indirect enum Kind: Hashable, Sendable, Codable {
        case modification(Modification)
        /// Renewal is turned on again, for the named items; nil for all.
        case reactivation(skus: [String]?)
    }

    /// Any transaction of the subscription.
    package let transactionIdentifier: String
    package let kind: Kind

    package init(ofTransaction identifier: String, _ kind: Kind) {
        (transactionIdentifier, self.kind) = (identifier, kind)
    }
}
