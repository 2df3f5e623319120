/// An order (`Order` of the Play Developer API): what a customer paid, and what was paid back.
package struct Order: Codable, Hashable, Sendable {
    package struct BuyerAddress: Codable, Hashable, Sendable {
        package var buyerCountry: String?
    }

    package struct Details: Codable, Hashable, Sendable {
        package var taxInclusive: Bool?
    }

    package struct LineItem: Codable, Hashable, Sendable {
        package var productId: String?
        package var productTitle: String?
        /// The price of one unit.
        package var listingPrice: Money?
        package var tax: Money?
        package var total: Money?
        package var oneTimePurchaseDetails: OneTimePurchaseDetails?
        package var subscriptionDetails: SubscriptionDetails?
    }

    package struct ProrationPeriod: Codable, Hashable, Sendable {
        /// `BASE`, `INTRODUCTORY` or `FREE_TRIAL`.
        package var originalOfferPhase: String?
    }

    package struct OfferPhaseDetails: Codable, Hashable, Sendable {
        package var baseDetails: EmptyObject?
        package var freeTrialDetails: EmptyObject?
        package var introductoryPriceDetails: EmptyObject?
        package var prorationPeriodDetails: ProrationPeriod?
    }

    package struct SubscriptionDetails: Codable, Hashable, Sendable {
        package var basePlanId: String?
        package var offerId: String?
        package var servicePeriodStartTime: DateTimeText?
        package var servicePeriodEndTime: DateTimeText?
        package var offerPhaseDetails: OfferPhaseDetails?
    }

    package struct OneTimePurchaseDetails: Codable, Hashable, Sendable {
        package var quantity: Int32?
        package var offerId: String?
        package var purchaseOptionId: String?
        /// Nil for a product that is not rented.
        package var rentalDetails: EmptyObject?
        /// Nil for a purchase that was no pre-order.
        package var preorderDetails: EmptyObject?
    }

    package struct Event: Codable, Hashable, Sendable {
        package var eventTime: DateTimeText?
    }

    package struct RefundDetails: Codable, Hashable, Sendable {
        package var total: Money?
        package var tax: Money?
    }

    package struct RefundEvent: Codable, Hashable, Sendable {
        package var eventTime: DateTimeText?
        /// `OTHER` or `CHARGEBACK`.
        package var refundReason: String?
        package var refundDetails: RefundDetails?
    }

    package struct PartialRefundEvent: Codable, Hashable, Sendable {
        package var createTime: DateTimeText?
        package var processTime: DateTimeText?
        /// `PENDING` or `PROCESSED_SUCCESSFULLY`.
        package var state: String?
        package var refundDetails: RefundDetails?
    }

    package struct History: Codable, Hashable, Sendable {
        package var processedEvent: Event?
        package var cancellationEvent: Event?
        package var refundEvent: RefundEvent?
        package var partialRefundEvents: [PartialRefundEvent]?
    }

    /// The Play Points that were spent on an order.
    package struct PointsDetails: Codable, Hashable, Sendable {
        package var pointsOfferId: String?
        package var pointsSpent: Int64Text?
        /// The share by which the points cost less, in millionths.
        package var pointsDiscountRateMicros: Int64Text?
        /// The discount that the points gave.
        package var pointsCouponValue: Money?
    }

    /// The place where an order was made.
    package enum SalesChannel: String, Codable, Sendable, CaseIterable {
        case inApp = "IN_APP"
        case emulator = "PC_EMULATOR"
        case nativePC = "NATIVE_PC"
        case playStore = "PLAY_STORE"
        case outsidePlayStore = "OUTSIDE_PLAY_STORE"
    }

    package var orderId: String?
    package var purchaseToken: String?
    package var createTime: DateTimeText?
    package var lastEventTime: DateTimeText?
    /// `PENDING`, `PROCESSED`, `CANCELED`, `PENDING_REFUND`, `PARTIALLY_REFUNDED` or `REFUNDED`.
    package var state: String?
    package var total: Money?
    package var tax: Money?
    package var developerRevenueInBuyerCurrency: Money?
    package var buyerAddress: BuyerAddress?
    package var salesChannel: SalesChannel?
    package var pointsDetails: PointsDetails?
    package var orderDetails: Details?
    package var lineItems: [LineItem]?
    package var orderHistory: History?
}

/// The answer to a batch of orders.
package struct OrderList: Codable, Sendable {
    package var orders: [Order]?
}

/// A purchase whose goods are to be taken back (`VoidedPurchase`).
package struct VoidedPurchase: Codable, Hashable, Sendable {
    package static let kind = "androidpublisher#voidedPurchase"

    package enum Source: Int32, Codable, Sendable {
        case user = 0
        case developer = 1
        case google = 2
    }

    package enum Reason: Int32, Codable, Sendable, CaseIterable {
        case other = 0
        case remorse = 1
        case notReceived = 2
        case defective = 3
        case accidentalPurchase = 4
        case fraud = 5
        case friendlyFraud = 6
        case chargeback = 7
        case unacknowledgedPurchase = 8
    }

    package var kind: String?
    package var purchaseToken: String?
    package var orderId: String?
    package var purchaseTimeMillis: Int64Text?
    package var voidedTimeMillis: Int64Text?
    package var voidedSource: Int32?
    package var voidedReason: Int32?
    /// The number of voided units; nil if the record voids all the rest.
    package var voidedQuantity: Int32?
}

/// A page of voided purchases (`VoidedPurchasesListResponse`).
package struct VoidedPurchaseList: Codable, Sendable {
    package struct TokenPagination: Codable, Sendable {
        package var nextPageToken: String?
        package var previousPageToken: String?
    }

    package struct PageInfo: Codable, Sendable {
        package var totalResults: Int32?
        package var resultPerPage: Int32?
        package var startIndex: Int32?
    }

    package var voidedPurchases: [VoidedPurchase]?
    package var tokenPagination: TokenPagination?
    package var pageInfo: PageInfo?
}

/// A developer's statement about a payment that the customer's bank disputes (`OrdersReviewRefundRequest`).
package struct RefundReviewRequest: Codable, Hashable, Sendable {
    package enum Preference: String, Codable, Sendable {
        case decline = "DECLINE"
        case approve = "APPROVE"
        case neutral = "NEUTRAL"
    }

    package struct Location: Codable, Hashable, Sendable {
        package var regionCode: String?
        package var administrativeArea: String?
        package var locality: String?
        package var sublocality: String?
    }

    /// A use of what was sold.
    package struct UsageEvent: Codable, Hashable, Sendable {
        package var consumptionTime: DateTimeText?
        package var consumptionItemDescription: String?
        package var ipAddress: String?
        package var location: Location?
        package var obfuscatedAccountId: String?
        package var obfuscatedProfileId: String?
    }

    package var pendingRefundToken: String?
    /// A text, because a value that is unknown is refused with the name of the field.
    package var refundPreference: String?
    package var sampleContentProvided: Bool?
    /// The share that the customer has used, in thousandths of a percent.
    package var consumptionPercentageMilliunits: Int32?
    package var consumptionUsageEvents: [UsageEvent]?

    /// The preference; nil if it is of no kind.
    package var preference: Preference? { refundPreference.flatMap { Preference(rawValue: $0) } }
}
