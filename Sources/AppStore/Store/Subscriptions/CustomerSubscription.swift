import Foundation
import Proofs

/// One customer's subscription in a group: its state, its next renewal and its next due date
/// (StoreKit, `Product.SubscriptionInfo.Status`).
///
/// A state machine without I/O. Each event is a method that changes the subscription and returns the effects for the store.
package struct CustomerSubscription: Hashable, Sendable, Codable {
    /// The state of a subscription (StoreKit, `RenewalState`).
    package enum State: Hashable, Sendable, Codable {
        case subscribed
        /// The charge failed, but the customer keeps the subscription until a date. Apple retries until `retryUntil`.
        case inGracePeriod(until: Timestamp, retryUntil: Timestamp)
        /// The charge failed and the subscription has ended. Apple retries until a date.
        case inBillingRetryPeriod(until: Timestamp)
        case expired(ExpirationIntent)
        case revoked
    }

    /// An offer in use, and the number of periods left.
    struct OfferInUse: Hashable, Sendable, Codable {
        let offer: SubscriptionOffer
        var periodsLeft: Int
    }

    /// A higher price that was announced to the customer.
    package struct PriceIncrease: Hashable, Sendable, Codable {
        let price: Price
        var isAccepted: Bool
    }

    let originalTransactionIdentifier: String
    let account: String
    let groupIdentifier: String
    var state: State
    /// The present product.
    package internal(set) var productIdentifier: String
    /// The product of the next renewal.
    var autoRenewProductIdentifier: String
    package internal(set) var isAutoRenewing: Bool
    /// The start of the uninterrupted subscription (`recentSubscriptionStartDate`).
    var startDate: Timestamp
    /// The end of the paid period.
    package internal(set) var expiresDate: Timestamp
    /// The day of the month from which months are counted.
    var dayOfMonth: Int
    /// The present offer; nil at the standard price.
    var offer: OfferInUse?
    /// The offer of the next renewal.
    var nextOffer: SubscriptionOffer?
    /// The price for this customer, if it differs from the catalog's.
    var agreedPrice: Price?
    var priceIncrease: PriceIncrease?
    /// True if the customer declined a price increase.
    var hasDeclinedPriceIncrease = false
    /// The dates on which the renewal date was extended.
    var extensionDates: [Timestamp] = []
    var appAccountToken: UUID?

    /// A subscription before its first paid period.
    package init(
        originalTransactionIdentifier: String,
        account: String,
        of product: Product,
        groupIdentifier: String,
        at now: Timestamp
    ) {
        self.originalTransactionIdentifier = originalTransactionIdentifier
        self.account = account
        self.groupIdentifier = groupIdentifier
        state = .subscribed
        productIdentifier = product.productIdentifier
        autoRenewProductIdentifier = product.productIdentifier
        isAutoRenewing = true
        startDate = now
        expiresDate = now
        dayOfMonth = now.dayOfMonth
    }

    /// The date of the next event; nil for a subscription that has ended.
    package var dueDate: Timestamp? {
        switch state {
        case .subscribed: expiresDate
        case .inGracePeriod(let until, _), .inBillingRetryPeriod(let until): until
        case .expired, .revoked: nil
        }
    }

    /// The status, as in the App Store Server API.
    package var status: Status {
        switch state {
        case .subscribed: .active
        case .inGracePeriod: .billingGracePeriod
        case .inBillingRetryPeriod: .billingRetry
        case .expired: .expired
        case .revoked: .revoked
        }
    }

    /// True if the customer is entitled to the subscription's product.
    var isEntitled: Bool {
        switch state {
        case .subscribed, .inGracePeriod: true
        case .inBillingRetryPeriod, .expired, .revoked: false
        }
    }

    /// The reason why the subscription has ended or will end; nil for one that renews.
    package var expirationIntent: ExpirationIntent? {
        switch state {
        case .subscribed where !isAutoRenewing: endingIntent
        case .subscribed, .revoked: nil
        case .inGracePeriod, .inBillingRetryPeriod: .billingError
        case .expired(let intent): intent
        }
    }

    /// The reason of the end, for a subscription that will not renew.
    var endingIntent: ExpirationIntent {
        hasDeclinedPriceIncrease ? .customerDidNotConsentToPriceIncrease : .customerCancelled
    }
}
