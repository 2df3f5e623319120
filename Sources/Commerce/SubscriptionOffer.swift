/// Another price for the first periods of a subscription (StoreKit's `Product.SubscriptionOffer`).
public struct SubscriptionOffer: Hashable, Sendable, Codable {
    /// Who may have it, in the numbers of signed transactions (`offerType`).
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

    /// How it is paid, in the words of `.storekit` files.
    public enum PaymentMode: String, Sendable, CaseIterable, Codable {
        case freeTrial = "free"
        case payAsYouGo
        case payUpFront
    }

    /// Who may redeem an offer code, in the words of `.storekit` files.
    public enum Eligibility: String, Sendable, CaseIterable, Codable {
        /// Never had the subscription.
        case new
        /// Has it.
        case existing
        /// Had it.
        case expired
    }

    public let kind: Kind
    /// By which an app asks for it, and transactions name it: of an offer code its reference name; nil for an introductory
    /// offer.
    public let identifier: String?
    public let paymentMode: PaymentMode
    public let period: SubscriptionPeriod
    /// How many periods it lasts; more than 1 only where each is paid by itself.
    public let periodCount: Int
    /// nil for a free trial.
    public let price: Price?
    /// nil for everybody whom an offer of its kind is for.
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
