/// The state of a subscription purchase (`SubscriptionPurchaseV2`). Enumerations are texts, because Google adds values.
package struct SubscriptionPurchaseV2: Codable, Hashable, Sendable {
    package static let kind = "androidpublisher#subscriptionPurchaseV2"

    package struct AccountIdentifiers: Codable, Hashable, Sendable {
        package var obfuscatedExternalAccountId: String?
        package var obfuscatedExternalProfileId: String?
    }

    package struct PausedContext: Codable, Hashable, Sendable {
        package var autoResumeTime: DateTimeText?
    }

    /// The customer's answer to the question why the subscription ends.
    package struct CancelSurveyResult: Codable, Hashable, Sendable {
        package enum Reason: String, Codable, Sendable, CaseIterable {
            case notEnoughUsage = "CANCEL_SURVEY_REASON_NOT_ENOUGH_USAGE"
            case technicalIssues = "CANCEL_SURVEY_REASON_TECHNICAL_ISSUES"
            case costRelated = "CANCEL_SURVEY_REASON_COST_RELATED"
            case foundBetterApp = "CANCEL_SURVEY_REASON_FOUND_BETTER_APP"
            case others = "CANCEL_SURVEY_REASON_OTHERS"
        }

        package var reason: Reason
        /// The customer's own words, of another reason alone.
        package var reasonUserInput: String?

        package init(reason: Reason, reasonUserInput: String? = nil) {
            (self.reason, self.reasonUserInput) = (reason, reasonUserInput)
        }
    }

    package struct UserCancellation: Codable, Hashable, Sendable {
        package var cancelTime: DateTimeText?
        package var cancelSurveyResult: CancelSurveyResult?
    }

    package struct CanceledContext: Codable, Hashable, Sendable {
        package var userInitiatedCancellation: UserCancellation?
        package var systemInitiatedCancellation: EmptyObject?
        package var developerInitiatedCancellation: EmptyObject?
        package var replacementCancellation: EmptyObject?
    }

    package struct RenewalDeclined: Codable, Hashable, Sendable {
        package var pendingOrderId: String?
    }

    /// The context of a grace period, and of a hold.
    package struct DeclinedContext: Codable, Hashable, Sendable {
        package var renewalDeclined: RenewalDeclined?
    }

    package struct OutOfAppContext: Codable, Hashable, Sendable {
        package var expiredExternalAccountIdentifiers: AccountIdentifiers?
        package var expiredPurchaseToken: String?
    }

    package struct PriceChangeDetails: Codable, Hashable, Sendable {
        package var newPrice: Money?
        package var priceChangeMode: String?
        package var priceChangeState: String?
        package var expectedNewPriceChargeTime: DateTimeText?
    }

    package struct PriceStepUpConsentDetails: Codable, Hashable, Sendable {
        package var consentDeadlineTime: DateTimeText?
        package var newPrice: Money?
        /// `PENDING`, `CONFIRMED` or `COMPLETED`.
        package var state: String?
    }

    package struct InstallmentDetails: Codable, Hashable, Sendable {
        package var initialCommittedPaymentsCount: Int32?
        package var subsequentCommittedPaymentsCount: Int32?
        package var remainingCommittedPaymentsCount: Int32?
        package var pendingCancellation: EmptyObject?
    }

    package struct AutoRenewingPlan: Codable, Hashable, Sendable {
        package var autoRenewEnabled: Bool?
        package var recurringPrice: Money?
        package var priceChangeDetails: PriceChangeDetails?
        package var installmentDetails: InstallmentDetails?
        package var priceStepUpConsentDetails: PriceStepUpConsentDetails?
    }

    package struct PrepaidPlan: Codable, Hashable, Sendable {
        package var allowExtendAfterTime: DateTimeText?
    }

    package struct OfferDetails: Codable, Hashable, Sendable {
        package var basePlanId: String?
        package var offerId: String?
        package var offerTags: [String]?
    }

    package struct ProrationPeriod: Codable, Hashable, Sendable {
        /// `BASE`, `INTRODUCTORY` or `FREE_TRIAL`.
        package var originalOfferPhaseType: String?
    }

    package struct DeferredReplacement: Codable, Hashable, Sendable {
        package var productId: String?
    }

    /// The item that an item has replaced.
    package struct ItemReplacement: Codable, Hashable, Sendable {
        package var productId: String?
        package var basePlanId: String?
        package var offerId: String?
        package var replacementMode: String?
    }

    package struct VanityCode: Codable, Hashable, Sendable {
        package var promotionCode: String?
    }

    /// The promotion code with which an item was bought: one that many customers use, or one of a single customer.
    package struct SignupPromotion: Codable, Hashable, Sendable {
        package var vanityCode: VanityCode?
        package var oneTimeCode: EmptyObject?
    }

    package struct OfferPhase: Codable, Hashable, Sendable {
        package var basePrice: EmptyObject?
        package var freeTrial: EmptyObject?
        package var introductoryPrice: EmptyObject?
        package var prorationPeriod: ProrationPeriod?
    }

    package struct LineItem: Codable, Hashable, Sendable {
        package var productId: String?
        package var expiryTime: DateTimeText?
        package var latestSuccessfulOrderId: String?
        package var autoRenewingPlan: AutoRenewingPlan?
        package var prepaidPlan: PrepaidPlan?
        package var offerDetails: OfferDetails?
        package var offerPhase: OfferPhase?
        package var deferredItemReplacement: DeferredReplacement?
        package var deferredItemRemoval: EmptyObject?
        package var itemReplacement: ItemReplacement?
        package var signupPromotion: SignupPromotion?
    }

    package var kind: String?
    /// `SUBSCRIPTION_STATE_` and a word.
    package var subscriptionState: String?
    package var startTime: DateTimeText?
    package var regionCode: String?
    /// `ACKNOWLEDGEMENT_STATE_PENDING` or `ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED`.
    package var acknowledgementState: String?
    package var linkedPurchaseToken: String?
    package var etag: String?
    package var externalAccountIdentifiers: AccountIdentifiers?
    package var testPurchase: EmptyObject?
    package var pausedStateContext: PausedContext?
    package var inGracePeriodStateContext: DeclinedContext?
    package var onHoldStateContext: DeclinedContext?
    package var canceledStateContext: CanceledContext?
    package var outOfAppPurchaseContext: OutOfAppContext?
    package var lineItems: [LineItem]?
}

/// The bodies of the methods on subscription purchases, and the answer to a deferral.
package enum SubscriptionRequests {
    package struct Acknowledge: Codable, Sendable {
        package struct AccountIdentifiers: Codable, Sendable {
            package var obfuscatedAccountId: String?
            package var obfuscatedProfileId: String?
        }

        package var developerPayload: String?
        package var externalAccountIds: AccountIdentifiers?

        package init() {}
    }

    package struct Cancel: Codable, Sendable {
        package struct Context: Codable, Sendable {
            /// `USER_REQUESTED_STOP_RENEWALS` or `DEVELOPER_REQUESTED_STOP_PAYMENTS`.
            package var cancellationType: String?
        }

        package var cancellationContext: Context?
    }

    package struct Defer: Codable, Sendable {
        package struct Context: Codable, Sendable {
            /// Seconds with the letter s: `86400s`.
            package var deferDuration: String?
            package var etag: String?
            package var validateOnly: Bool?
        }

        package var deferralContext: Context?
    }

    package struct Deferred: Codable, Sendable {
        package struct Item: Codable, Sendable {
            package var productId: String?
            package var expiryTime: DateTimeText?
        }

        package var itemExpiryTimeDetails: [Item]?
    }

    package struct Revoke: Codable, Sendable {
        package struct ItemRefund: Codable, Sendable {
            package var productId: String?
        }

        package struct Context: Codable, Sendable {
            package var fullRefund: EmptyObject?
            package var proratedRefund: EmptyObject?
            package var itemBasedRefund: ItemRefund?
        }

        package var revocationContext: Context?
    }
}

/// The state of a one-time purchase in the first version of the API (`ProductPurchase`).
package struct ProductPurchase: Codable, Hashable, Sendable {
    /// Google documents no value of `kind`. This one follows the names of the others.
    package static let kind = "androidpublisher#productPurchase"

    package var kind: String?
    package var purchaseTimeMillis: Int64Text?
    /// 0 purchased, 1 canceled, 2 pending.
    package var purchaseState: Int32?
    /// 0 not consumed, 1 consumed.
    package var consumptionState: Int32?
    /// 0 not acknowledged, 1 acknowledged.
    package var acknowledgementState: Int32?
    /// 0 a license tester, 1 a promotion code, 2 a rewarded ad; nil for any other purchase.
    package var purchaseType: Int32?
    package var orderId: String?
    package var productId: String?
    package var purchaseToken: String?
    package var developerPayload: String?
    package var quantity: Int32?
    package var refundableQuantity: Int32?
    package var obfuscatedExternalAccountId: String?
    package var obfuscatedExternalProfileId: String?
    package var regionCode: String?
}

/// The state of a one-time purchase with its line items (`ProductPurchaseV2`).
///
/// Enumerations are texts, because Google adds values.
package struct ProductPurchaseV2: Codable, Hashable, Sendable {
    /// Google documents no value of `kind`. This one follows the names of the others.
    package static let kind = "androidpublisher#productPurchaseV2"

    package struct LineItem: Codable, Hashable, Sendable {
        package var productId: String?
        package var productOfferDetails: OfferDetails?
    }

    package struct OfferDetails: Codable, Hashable, Sendable {
        package var purchaseOptionId: String?
        package var offerId: String?
        package var offerTags: [String]?
        package var offerToken: String?
        package var quantity: Int32?
        package var refundableQuantity: Int32?
        /// `CONSUMPTION_STATE_YET_TO_BE_CONSUMED` or `CONSUMPTION_STATE_CONSUMED`.
        package var consumptionState: String?
        /// Nil for a product that is not rented.
        package var rentOfferDetails: EmptyObject?
        /// Nil for a purchase that is no pre-order.
        package var preorderOfferDetails: PreorderOfferDetails?
    }

    package struct PreorderOfferDetails: Codable, Hashable, Sendable {
        package var preorderReleaseTime: DateTimeText?
    }

    package struct StateContext: Codable, Hashable, Sendable {
        /// `PURCHASED`, `CANCELLED` or `PENDING`.
        package var purchaseState: String?
    }

    package struct TestContext: Codable, Hashable, Sendable {
        /// `TEST`.
        package var fopType: String?
    }

    package var kind: String?
    package var productLineItem: [LineItem]?
    package var purchaseStateContext: StateContext?
    /// `ACKNOWLEDGEMENT_STATE_PENDING` or `ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED`.
    package var acknowledgementState: String?
    /// Nil until the purchase is paid.
    package var purchaseCompletionTime: DateTimeText?
    package var testPurchaseContext: TestContext?
    package var orderId: String?
    package var regionCode: String?
    package var obfuscatedExternalAccountId: String?
    package var obfuscatedExternalProfileId: String?
}

/// The body of an acknowledgement.
package struct AcknowledgeRequest: Codable, Sendable {
    package var developerPayload: String?
}
