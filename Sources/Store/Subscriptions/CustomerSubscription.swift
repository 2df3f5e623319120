import Commerce
import Foundation
import Receipts

/// One customer's subscription in a group: what they have, how it goes on, and when something happens by itself next
/// (StoreKit, `Product.SubscriptionInfo.Status`).
///
/// A state machine without I/O: each event is a method that changes the subscription and returns what the store has to do.
package struct CustomerSubscription: Hashable, Sendable, Codable {
    /// Where a subscription stands (StoreKit, `RenewalState`).
    package enum State: Hashable, Sendable, Codable {
        case subscribed
        /// Could not be charged, and the customer keeps it for a while; `retryUntil` is when Apple stops trying.
        case inGracePeriod(until: Timestamp, retryUntil: Timestamp)
        /// Could not be charged, and has ended unless it can be before Apple stops trying.
        case inBillingRetryPeriod(until: Timestamp)
        case expired(ExpirationIntent)
        case revoked
    }

    /// An offer that applies, and for how many more periods.
    package struct OfferInUse: Hashable, Sendable, Codable {
        let offer: SubscriptionOffer
        var periodsLeft: Int
    }

    /// A higher price that the customer was told of.
    package struct PriceIncrease: Hashable, Sendable, Codable {
        let price: Price
        var isAccepted: Bool
    }

    let originalTransactionIdentifier: String
    let account: String
    let groupIdentifier: String
    var state: State
    /// What the customer has now.
    package internal(set) var productIdentifier: String
    /// What it renews as.
    package internal(set) var autoRenewProductIdentifier: String
    package internal(set) var isAutoRenewing: Bool
    /// When the unbroken stretch began (`recentSubscriptionStartDate`).
    var startDate: Timestamp
    /// When the period that is paid ends.
    package internal(set) var expiresDate: Timestamp
    /// The day on which months are counted.
    var dayOfMonth: Int
    /// nil at the standard price.
    var offer: OfferInUse?
    /// Accepted for the next renewal.
    var nextOffer: SubscriptionOffer?
    /// What the customer pays where the catalog has another price.
    var agreedPrice: Price?
    var priceIncrease: PriceIncrease?
    /// Whether the customer said no to a price increase.
    var hasDeclinedPriceIncrease = false
    /// When its renewal date was extended.
    var extensionDates: [Timestamp] = []
    var appAccountToken: UUID?

    /// A subscription at a moment, before its first period is paid.
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

    /// When something happens by itself; nil of a subscription that has ended.
    package var dueDate: Timestamp? {
        switch state {
        case .subscribed: expiresDate
        case .inGracePeriod(let until, _), .inBillingRetryPeriod(let until): until
        case .expired, .revoked: nil
        }
    }

    /// Where it stands, in the numbers of the App Store Server API.
    package var status: Status {
        switch state {
        case .subscribed: .active
        case .inGracePeriod: .billingGracePeriod
        case .inBillingRetryPeriod: .billingRetry
        case .expired: .expired
        case .revoked: .revoked
        }
    }

    /// Whether the customer has what they subscribed to.
    package var isEntitled: Bool {
        switch state {
        case .subscribed, .inGracePeriod: true
        case .inBillingRetryPeriod, .expired, .revoked: false
        }
    }

    /// Why it has ended or will: nil of one that goes on.
    package var expirationIntent: ExpirationIntent? {
        switch state {
        case .subscribed where !isAutoRenewing: endingIntent
        case .subscribed, .revoked: nil
        case .inGracePeriod, .inBillingRetryPeriod: .billingError
        case .expired(let intent): intent
        }
    }

    /// Why it will not renew, of one that will not.
    var endingIntent: ExpirationIntent {
        hasDeclinedPriceIncrease ? .customerDidNotConsentToPriceIncrease : .customerCancelled
    }
}
