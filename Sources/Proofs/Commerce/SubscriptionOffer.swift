/// A different price for the first periods of a subscription (StoreKit's `Product.SubscriptionOffer`).
public struct SubscriptionOffer: Hashable, Sendable, Codable {
    /// The kind of an offer, with the numbers of signed transactions (`offerType`).
    public enum Kind: Int, Sendable, CaseIterable, Codable {
        case introductory = 1
        case promotional = 2
        case offerCode = 3
        case winBack = 4

        /// The name in Till's own JSON and on the command line, such as `promotional`.
        public var name: String { String(describing: self) }

        /// - Returns: nil for any other name.
        public init?(name: String) {
            guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
            self = kind
        }
    }

    /// The payment mode, as `.storekit` files name it.
    public enum PaymentMode: String, Sendable, CaseIterable, Codable {
        case freeTrial = "free"
        case payAsYouGo
        case payUpFront
    }

    /// The eligibility for an offer code, as `.storekit` files name it.
    public enum Eligibility: String, Sendable, CaseIterable, Codable {
        /// The customer never had the subscription.
        case new
        /// The customer has the subscription.
        case existing
        /// The customer had the subscription.
        case expired
    }

    public let kind: Kind
    /// The identifier of the offer in requests and transactions. For an offer code, it is the reference name. Nil for
    /// an introductory offer.
    public let identifier: String?
    public let paymentMode: PaymentMode
    public let period: SubscriptionPeriod
    /// The number of periods. It exceeds 1 only if each period is paid separately.
    public let periodCount: Int
    /// The price. Nil for a free trial.
    public let price: Price?
    /// The eligible customers. Nil if the kind of the offer alone determines them.
    public let eligibility: Set<Eligibility>?

    public init(
        kind: Kind,
        identifier: String?,
        paymentMode: PaymentMode,
        period: SubscriptionPeriod,
        periodCount: Int,
        price: Price?,
        eligibility: Set<Eligibility>? = nil
    ) {
        self.kind = kind
        self.identifier = identifier
        self.paymentMode = paymentMode
        self.period = period
        self.periodCount = periodCount
        self.price = price
        self.eligibility = eligibility
    }
}
