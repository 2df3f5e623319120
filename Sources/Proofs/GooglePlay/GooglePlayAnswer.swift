/// An answer of the Play Developer API about a purchase token: a `SubscriptionPurchaseV2` or a `ProductPurchaseV2`.
///
/// Only the members that decide or are shown are read. Unknown members and values of enumerations are tolerated, and grant nothing. A
/// member that decides something and has another form is an error.
package final class GooglePlayAnswer: Sendable {
    /// The maximum size of an answer in bytes.
    package static let maximumSize = 256 << 10
    /// The maximum length of the identifier of an order in bytes. Real ones have up to 38.
    static let maximumOrderSize = 128
    /// The maximum length of a value of an enumeration in bytes.
    static let maximumValueSize = 128

    /// The time of an answer, and the facts that the caller knows.
    package struct Moment: Sendable {
        /// `google`, or `localPlay`.
        let realm: Realm
        let askedAt: Timestamp
        let names: PurchaseTokenNames
        /// The first token of the chain; nil for the answer's own token.
        let originalToken: String?
        /// The orders of the line items, as far as the API has answered.
        let orders: [GooglePlayOrder]
        /// The lines of the chain before the answer.
        let lines: GooglePlayLines
        /// The number of the question in its chain; nil for the last one.
        let number: Int64?
        /// True if the ledger does not have a purchase of the token yet.
        let isNewToken: Bool
        /// The terms of the rented products, as far as the catalog at Google Play has them.
        let rentals: [GooglePlayRental]

        package init(
            realm: Realm, askedAt: Timestamp, named names: PurchaseTokenNames, originalToken: String? = nil,
            orders: [GooglePlayOrder] = [], lines: GooglePlayLines = GooglePlayLines(), number: Int64? = nil,
            isNewToken: Bool = true, rentals: [GooglePlayRental] = []
        ) {
            (self.realm, self.askedAt, self.names, self.originalToken) = (realm, askedAt, names, originalToken)
            (self.orders, self.lines, self.number, self.isNewToken) = (orders, lines, number, isNewToken)
            self.rentals = rentals
        }

        func order(_ identifier: String?) -> GooglePlayOrder? {
            identifier.flatMap { identifier in orders.first { $0.identifier == identifier } }
        }
    }

    package let packageName: String
    package let purchaseToken: String
    package let state: GooglePlayState
    /// The state in Google's word.
    package let statedState: String
    let isTest: Bool
    package let isAcknowledged: Bool
    /// The beginning of a subscription, or the completion of the payment of a one-time product.
    let startTime: Timestamp?
    let regionCode: String?
    /// The token of the purchase that this one replaces; nil for none.
    package let linkedPurchaseToken: String?
    /// The token of the ended subscription that the customer has bought again in the Play Store; nil for none. Google states it only until
    /// the purchase is acknowledged.
    package let expiredPurchaseToken: String?
    let cancellation: Canceler?
    /// The moment of the customer's cancellation.
    let cancelTime: Timestamp?
    /// The reason that the customer gave, in Google's word.
    let cancelSurveyReason: String?
    /// The order of the declined renewal that is retried.
    let pendingOrderId: String?
    /// The end of the pause.
    let resumeTime: Timestamp?
    /// The app's identifier of the customer's account: that of the purchase, or else of the subscription that is bought again.
    package let obfuscatedAccountId: String?
    let obfuscatedProfileId: String?
    let content: Content
    /// The SHA-256 of the answer's bytes.
    package let digest: [UInt8]

    /// The line items of a purchase, by its kind.
    enum Content: Sendable {
        case subscription([SubscriptionLineItem])
        case products([ProductLineItem], orderId: String?)
    }

    package var isSubscription: Bool {
        if case .subscription = content { true } else { false }
    }

    /// True if another purchase has replaced this one. In a deferred replacement, the new purchase has the transaction of this one until
    /// its end.
    package var isReplaced: Bool { cancellation == .replacement }

    /// True for a purchase with a rental among its products.
    var hasRental: Bool {
        if case .products(let items, _) = content { items.contains(where: \.isRental) } else { false }
    }

    /// The release of a pre-order, before and after it; nil for another purchase.
    package var preorderReleaseTime: Timestamp? {
        if case .products(let items, _) = content { items.compactMap(\.preorderReleaseTime).max() } else { nil }
    }

    /// The orders of the line items, each once. Their dates and prices complete the answer.
    package var orderIdentifiers: [String] {
        let orders =
            switch content {
            case .subscription(let items): items.compactMap(\.orderId)
            case .products(_, let orderId): [orderId].compactMap(\.self)
            }
        return Set(orders).sorted()
    }

    /// Reads a `SubscriptionPurchaseV2`.
    ///
    /// - Throws: `ProofRefusal` for bytes that are no such answer.
    package init(subscription bytes: [UInt8], about token: String, of packageName: String) throws(ProofRefusal) {
        let fields = try PayloadFields(json: bytes, upTo: Self.maximumSize)
            .deciding([
                "subscriptionState", "lineItems", "linkedPurchaseToken", "testPurchase", "outOfAppPurchaseContext",
                "externalAccountIdentifiers",
            ])
        (self.packageName, purchaseToken) = (packageName, token)
        digest = DigestAlgorithm.sha256.digest(of: bytes)
        statedState = try fields.text("subscriptionState", upTo: Self.maximumValueSize) ?? ""
        state = Self.subscriptionStates[statedState] ?? .unknown
        isTest = try fields.object("testPurchase") != nil
        isAcknowledged = try fields.isAcknowledged
        startTime = try fields.dateTime("startTime")
        regionCode = try fields.string("regionCode")
        linkedPurchaseToken = try fields.token("linkedPurchaseToken")
        let outOfApp = try fields.object("outOfAppPurchaseContext")?.deciding(["expiredPurchaseToken"])
        expiredPurchaseToken = try outOfApp?.token("expiredPurchaseToken")
        let canceled = try fields.object("canceledStateContext")
        cancellation = try Self.cancellation(canceled)
        let byUser = try canceled?.object("userInitiatedCancellation")
        cancelTime = try byUser?.dateTime("cancelTime")
        // The words of the customer beside it (`reasonUserInput`) are not read: an erasure would have to find them.
        cancelSurveyReason = try byUser?.object("cancelSurveyResult")?.string("reason")
        let (grace, hold) = (
            try fields.object("inGracePeriodStateContext"), try fields.object("onHoldStateContext")
        )
        pendingOrderId = try (grace ?? hold)?.object("renewalDeclined")?.string("pendingOrderId")
        resumeTime = try fields.object("pausedStateContext")?.dateTime("autoResumeTime")
        let account = try fields.object("externalAccountIdentifiers")
        let earlier = try outOfApp?.object("expiredExternalAccountIdentifiers")
        let identified = try account?.obfuscated("Account") == nil ? earlier : account
        obfuscatedAccountId = try identified?.obfuscated("Account")
        obfuscatedProfileId = try identified?.obfuscated("Profile")
        content = .subscription(
            try fields.lineItems("lineItems") { (item) throws(ProofRefusal) in try SubscriptionLineItem(item) })
    }

    /// Reads a `ProductPurchaseV2`.
    ///
    /// - Throws: `ProofRefusal` for bytes that are no such answer.
    package init(product bytes: [UInt8], about token: String, of packageName: String) throws(ProofRefusal) {
        let fields = try PayloadFields(json: bytes, upTo: Self.maximumSize)
            .deciding(["productLineItem", "purchaseStateContext", "testPurchaseContext", "orderId"])
        (self.packageName, purchaseToken) = (packageName, token)
        digest = DigestAlgorithm.sha256.digest(of: bytes)
        let orderId = try fields.order("orderId")
        startTime = try fields.dateTime("purchaseCompletionTime")
        statedState =
            try fields.object("purchaseStateContext")?.deciding(["purchaseState"])
            .text("purchaseState", upTo: Self.maximumValueSize) ?? ""
        switch statedState {
        case "PENDING": state = .pending
        case "PURCHASED": state = .purchased
        // "This field will not be present until the payment is complete" (ProductPurchaseV2, `purchaseCompletionTime`).
        case "CANCELLED": state = startTime == nil ? .paymentCanceled : .voided
        default: state = .unknown
        }
        isTest = try fields.object("testPurchaseContext") != nil
        isAcknowledged = try fields.isAcknowledged
        regionCode = try fields.string("regionCode")
        (linkedPurchaseToken, expiredPurchaseToken, cancellation, resumeTime) = (nil, nil, nil, nil)
        (cancelTime, cancelSurveyReason, pendingOrderId) = (nil, nil, nil)
        obfuscatedAccountId = try fields.obfuscated("Account")
        obfuscatedProfileId = try fields.obfuscated("Profile")
        content = .products(
            try fields.lineItems("productLineItem") { (item) throws(ProofRefusal) in try ProductLineItem(item) },
            orderId: orderId)
    }

    fileprivate static let subscriptionStates: [String: GooglePlayState] = [
        "SUBSCRIPTION_STATE_PENDING": .pending, "SUBSCRIPTION_STATE_ACTIVE": .active,
        "SUBSCRIPTION_STATE_IN_GRACE_PERIOD": .inGracePeriod, "SUBSCRIPTION_STATE_ON_HOLD": .onHold,
        "SUBSCRIPTION_STATE_PAUSED": .paused, "SUBSCRIPTION_STATE_CANCELED": .canceled,
        "SUBSCRIPTION_STATE_EXPIRED": .expired, "SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED": .paymentCanceled,
    ]

    private static func cancellation(_ context: PayloadFields?) throws(ProofRefusal) -> Canceler? {
        guard let context else { return nil }
        if try context.object("userInitiatedCancellation") != nil { return .user }
        if try context.object("systemInitiatedCancellation") != nil { return .system }
        if try context.object("developerInitiatedCancellation") != nil { return .developer }
        return try context.object("replacementCancellation") != nil ? .replacement : nil
    }
}

extension PayloadForm {
    /// The committed payments of an installment plan of Google Play (`installmentDetails`).
    static let installments: [String: PayloadForm] = [
        "initialCommittedPaymentsCount": .integer, "subsequentCommittedPaymentsCount": .integer,
        "remainingCommittedPaymentsCount": .integer, "pendingCancellation": .object([:]),
    ]
}

/// The canceler of a subscription at Google Play (`canceledStateContext`). The raw value is that of the fact `canceledBy`.
package enum Canceler: String, CaseIterable, Sendable {
    case user
    /// Google Play, such as for a failed payment.
    case system
    case developer
    /// The customer has bought another subscription in its place.
    case replacement
}

extension RenewalFacts {
    /// Nil for a subscription that nobody has canceled, and at the App Store.
    package var canceler: Canceler? { text(.canceledBy).flatMap(Canceler.init) }

    /// True for a subscription whose pause is in effect.
    package var isPaused: Bool {
        text(.subscriptionState).flatMap { GooglePlayAnswer.subscriptionStates[$0] } == .paused
    }

    /// States a pause that is in effect. The fact has Google's words, which other stores' translations use, too.
    ///
    /// - Parameter end: Nil if the store has not stated it.
    package mutating func statePause(until end: Timestamp?) {
        self[.subscriptionState] = .text("SUBSCRIPTION_STATE_PAUSED")
        self[.autoResumeTime] = .init(end)
    }
}

extension GooglePlayAnswer {
    /// A product of a subscription purchase.
    struct SubscriptionLineItem: Sendable {
        let productId: String
        /// The end of the access; nil for a product that is not owned yet.
        let expiryTime: Timestamp?
        let orderId: String?
        /// False for a prepaid plan.
        let isAutoRenewing: Bool
        /// True for a plan that the customer extends by another purchase, and that nobody can cancel.
        let isPrepaid: Bool
        /// True if the product leaves the subscription at its next renewal.
        let isRemoved: Bool
        let renews: Bool
        /// True if the customer has canceled an installment plan, which is charged until the end of its commitment.
        let isCommitmentCanceled: Bool
        /// The JSON of the committed payments; nil for another plan.
        let installments: String?
        /// The moment after which the customer can extend a prepaid plan.
        let extensibleAfter: Timestamp?
        let recurringPrice: Price?
        let priceChange: PriceChange?
        let basePlanId: String?
        let offerId: String?
        /// The tags of the offer and the plan; empty for none.
        let offerTags: [String]
        let phase: GooglePlayOrder.Phase?
        /// True for a purchase with a promotion code.
        let hasPromotionCode: Bool
        /// The promotion code that many customers may use (`vanityCode`); nil for another one, which Google does not state.
        let promotionCode: String?
        /// True for a promotion code that one customer may use (`oneTimeCode`).
        let hasOneTimeCode: Bool
        /// The product that replaces this one at the next renewal.
        let nextProductId: String?
        /// The item in whose place the customer has bought this one; nil for none, and 60 days after the replacement.
        let replaced: ReplacedItem?

        /// An item of the earlier purchase, or of this one (`itemReplacement`).
        struct ReplacedItem: Sendable {
            let productId: String?
            let basePlanId: String?
            /// The mode in Google's word, such as `DEFERRED`.
            let mode: String?

            init(_ fields: PayloadFields) throws(ProofRefusal) {
                (productId, basePlanId) = (try fields.string("productId"), try fields.string("basePlanId"))
                mode = try fields.text("replacementMode", upTo: GooglePlayAnswer.maximumValueSize)
            }
        }

        /// A change of the price at a coming renewal.
        struct PriceChange: Sendable {
            let price: Price?
            /// The state in Google's word, such as `OUTSTANDING`.
            let state: String
            /// Nil for a kind that this version does not know.
            let mode: Mode?
            /// The date of the first charge at the new price.
            let chargedAt: Timestamp?
            /// The moment at which the subscription is canceled unless the customer consents to a step-up.
            var consentDeadline: Timestamp?

            /// The kinds of changes, in Google's words.
            enum Mode: String {
                case decrease = "PRICE_DECREASE"
                /// The subscription ends unless the customer consents.
                case optIn = "PRICE_INCREASE"
                case optOut = "OPT_OUT_PRICE_INCREASE"
            }

            /// The customer's answer to an increase; nil for a decrease.
            var answer: PriceIncreaseStatus? {
                switch mode {
                case .decrease: nil
                case .optIn where state != "CONFIRMED": .customerHasNotResponded
                case .optIn, .optOut, nil: .customerConsentedOrWasNotifiedWithoutNeedingConsent
                }
            }
            /// True for a change that is announced, and neither in effect nor withdrawn.
            var isPending: Bool { ["OUTSTANDING", "PENDING", "CONFIRMED"].contains(state) }

            /// The longest time between the renewal that a change concerns and its expected charge, in days. A payment may be authorized 48
            /// hours before the renewal (developer.android.com/google/play/billing/price-changes, "Price decreases").
            private static let toleranceDays: Int64 = 2

            /// True if the customer has not consented to the higher price before the renewal at a moment. Google Play then cancels the
            /// subscription (price-changes, "Price increases"; lifecycle/subscriptions, "Price step-up consent").
            func lacksConsent(at renewal: Timestamp) -> Bool {
                let isNear = chargedAt.map { charge in
                    charge <= renewal.adding(days: Self.toleranceDays)
                        && renewal <= charge.adding(days: Self.toleranceDays)
                }
                return mode == .optIn && ["OUTSTANDING", "PENDING", "CANCELED"].contains(state) && isNear ?? true
            }
        }

        init(_ fields: PayloadFields) throws(ProofRefusal) {
            let fields = fields.deciding(["expiryTime", "latestSuccessfulOrderId"])
            productId = try fields.product()
            expiryTime = try fields.dateTime("expiryTime")
            orderId = try fields.order("latestSuccessfulOrderId")
            let plan = try fields.object("autoRenewingPlan")
            isAutoRenewing = plan != nil
            let prepaid = try fields.object("prepaidPlan")
            isPrepaid = prepaid != nil
            extensibleAfter = try prepaid?.dateTime("allowExtendAfterTime")
            isRemoved = try fields.object("deferredItemRemoval") != nil
            // A false value is omitted.
            renews = try plan?.bool("autoRenewEnabled") ?? false
            isCommitmentCanceled = try plan?.object("installmentDetails")?.object("pendingCancellation") != nil
            installments = try plan?.json("installmentDetails", PayloadForm.installments)
            recurringPrice = try plan?.money("recurringPrice")
            priceChange = try plan.flatMap { (plan) throws(ProofRefusal) in try Self.priceChange(plan) }
            let offer = try fields.object("offerDetails")
            (basePlanId, offerId) = (try offer?.string("basePlanId"), try offer?.string("offerId"))
            offerTags = try offer?.strings("offerTags") ?? []
            phase = try fields.object("offerPhase").flatMap { (phase) throws(ProofRefusal) in
                try GooglePlayOrder.Phase(phase, "basePrice", "freeTrial", "introductoryPrice", "prorationPeriod")
            }
            let promotion = try fields.object("signupPromotion")
            hasPromotionCode = promotion != nil
            promotionCode = try promotion?.object("vanityCode")?.string("promotionCode")
            hasOneTimeCode = try promotion?.object("oneTimeCode") != nil
            nextProductId = try fields.object("deferredItemReplacement")?.string("productId")
            replaced = try fields.object("itemReplacement").map { (item) throws(ProofRefusal) in
                try ReplacedItem(item)
            }
        }

        private static func priceChange(_ plan: PayloadFields) throws(ProofRefusal) -> PriceChange? {
            let details = try plan.object("priceChangeDetails")
            let change = try details.flatMap { (details) throws(ProofRefusal) -> PriceChange? in
                guard let state = try details.string("priceChangeState") else { return nil }
                return PriceChange(
                    price: try details.money("newPrice"), state: state,
                    mode: try details.string("priceChangeMode").flatMap { .init(rawValue: $0) },
                    chargedAt: try details.dateTime("expectedNewPriceChargeTime"))
            }
            if let change, change.isPending { return change }
            guard let details = try plan.object("priceStepUpConsentDetails"), let state = try details.string("state"),
                ["PENDING", "CONFIRMED"].contains(state) || state == "COMPLETED" && change == nil
            else { return change }
            return PriceChange(
                price: try details.money("newPrice"), state: state, mode: .optIn, chargedAt: nil,
                consentDeadline: try details.dateTime("consentDeadlineTime"))
        }
    }

    /// A product of a one-time purchase.
    struct ProductLineItem: Sendable {
        let productId: String
        let quantity: Int
        /// The units that are not paid back; nil if Google does not state them.
        let refundableQuantity: Int?
        /// The units that are paid back.
        var refundedQuantity: Int { max(0, quantity - (refundableQuantity ?? quantity)) }
        let isConsumed: Bool
        let purchaseOptionId: String?
        let offerId: String?
        /// The tags of the offer and the option; empty for none.
        let offerTags: [String]
        /// The token with which the app has chosen the offer.
        let offerToken: String?
        let isRental: Bool
        /// The release of a pre-order, at which it is charged; nil for another purchase.
        let preorderReleaseTime: Timestamp?

        init(_ fields: PayloadFields) throws(ProofRefusal) {
            productId = try fields.product()
            let details = try fields.deciding(["productOfferDetails"]).object("productOfferDetails")?
                .deciding(["rentOfferDetails"])
            isRental = try details?.object("rentOfferDetails") != nil
            preorderReleaseTime = try details?.object("preorderOfferDetails")?.dateTime("preorderReleaseTime")
            quantity = try details?.quantity("quantity") ?? 1
            refundableQuantity = try details?.integer("refundableQuantity").flatMap {
                (0...Int64(Int32.max)).contains($0) ? Int($0) : nil
            }
            isConsumed = try details?.string("consumptionState") == "CONSUMPTION_STATE_CONSUMED"
            (purchaseOptionId, offerId) = (try details?.string("purchaseOptionId"), try details?.string("offerId"))
            offerTags = try details?.strings("offerTags") ?? []
            offerToken = try details?.string("offerToken")
        }
    }
}
