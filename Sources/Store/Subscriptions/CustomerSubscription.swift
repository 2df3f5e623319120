import Commerce
import Foundation
import Receipts

/// One customer's subscription in a group: what they have, how it goes on, and when something happens by itself next
/// (StoreKit, `Product.SubscriptionInfo.Status`).
///
/// A state machine without I/O: each event is a method that changes the subscription and returns what the store has to do.
struct CustomerSubscription: Hashable, Sendable, Codable {
    /// Where a subscription stands (StoreKit, `RenewalState`).
    enum State: Hashable, Sendable, Codable {
        case subscribed
        /// Could not be charged, and the customer keeps it for a while; `retryUntil` is when Apple stops trying.
        case inGracePeriod(until: Timestamp, retryUntil: Timestamp)
        /// Could not be charged, and has ended unless it can be before Apple stops trying.
        case inBillingRetryPeriod(until: Timestamp)
        case expired(ExpirationIntent)
        case revoked
    }

    /// An offer that applies, and for how many more periods.
    struct OfferInUse: Hashable, Sendable, Codable {
        let offer: SubscriptionOffer
        var periodsLeft: Int
    }

    /// A higher price that the customer was told of.
    struct PriceIncrease: Hashable, Sendable, Codable {
        let price: Price
        var isAccepted: Bool
    }

    let originalTransactionIdentifier: String
    let account: String
    let groupIdentifier: String
    var state: State
    /// What the customer has now.
    var productIdentifier: String
    /// What it renews as.
    var autoRenewProductIdentifier: String
    var isAutoRenewing: Bool
    /// When the unbroken stretch began (`recentSubscriptionStartDate`).
    var startDate: Timestamp
    /// When the period that is paid ends.
    var expiresDate: Timestamp
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

    /// When something happens by itself; nil of a subscription that has ended.
    var dueDate: Timestamp? {
        switch state {
        case .subscribed: expiresDate
        case .inGracePeriod(let until, _), .inBillingRetryPeriod(let until): until
        case .expired, .revoked: nil
        }
    }

    /// Where it stands, in the numbers of the App Store Server API.
    var status: Status {
        switch state {
        case .subscribed: .active
        case .inGracePeriod: .billingGracePeriod
        case .inBillingRetryPeriod: .billingRetry
        case .expired: .expired
        case .revoked: .revoked
        }
    }

    /// Whether the customer has what they subscribed to.
    var isEntitled: Bool {
        switch state {
        case .subscribed, .inGracePeriod: true
        case .inBillingRetryPeriod, .expired, .revoked: false
        }
    }

    /// Why it has ended or will: nil of one that goes on.
    var expirationIntent: ExpirationIntent? {
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

/// What the store has to do about a subscription that has changed, in order.
enum SubscriptionEffect: Hashable, Sendable {
    /// A period is paid.
    case charge(SubscriptionCharge)
    /// The period before ends, since a higher subscription takes its place.
    case markUpgraded
    /// The period that is paid ends at another time.
    case setExpiresDate(Timestamp)
    case notify(NotificationTypeV2, Subtype?)
}

/// One paid period of a subscription.
struct SubscriptionCharge: Hashable, Sendable {
    let productIdentifier: String
    let price: Price
    let offer: SubscriptionOffer?
    let reason: TransactionReason
    let startDate: Timestamp
    let expiresDate: Timestamp
}

/// What a subscription depends on besides itself.
struct SubscriptionTerms: Sendable {
    /// What is for sale now.
    let product: @Sendable (_ productIdentifier: String) -> Product?
    let timeRate: TimeRate
    /// Of the storefront, whatever the prices of the catalog are in.
    let currency: String
    /// Whether no renewal can be charged.
    let isBillingFailing: Bool
    let isGracePeriodEnabled: Bool
}
