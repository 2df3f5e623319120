import Commerce
import Foundation
import StrictJSON

/// Signed renewal information of a subscription (App Store Server API, `JWSRenewalInfoDecodedPayload`).
public final class JWSRenewalInfoDecodedPayload: Sendable {
    public let originalTransactionId: String
    public let expirationIntent: OpenEnumeration<ExpirationIntent>?
    public let autoRenewProductId: String?
    public let productId: String?
    public let autoRenewStatus: OpenEnumeration<AutoRenewStatus>?
    public let isInBillingRetryPeriod: Bool?
    public let priceIncreaseStatus: OpenEnumeration<PriceIncreaseStatus>?
    public let gracePeriodExpiresDate: Timestamp?
    public let offerType: OpenEnumeration<OfferType>?
    public let offerIdentifier: String?
    public let offerDiscountType: OpenEnumeration<OfferDiscountType>?
    /// An ISO 8601 duration.
    public let offerPeriod: String?
    public let signedDate: Timestamp
    public let environment: String
    public let recentSubscriptionStartDate: Timestamp?
    public let renewalDate: Timestamp?
    public let currency: String?
    /// The price in milliunits of the currency, of one seat on average.
    public let renewalPrice: Int64?
    public let renewalQuantity: Int64?
    public let eligibleWinBackOfferIds: [String]?
    public let appAccountToken: UUID?
    public let appTransactionId: String?
    public let renewalBillingPlanType: OpenEnumeration<RenewalBillingPlanType>?
    public let commitmentInfo: RenewalCommitmentInfo?
    public let advancedCommerceInfo: AdvancedCommerceRenewalInfo?
    public let multiSeatInfo: RenewalMultiSeatInfo?
    /// All signed fields, known and unknown.
    public let fields: JSONObject

    init(_ fields: PayloadFields) throws(PayloadError) {
        // The end of a grace period decides what the customer owns.
        let fields = fields.deciding(["gracePeriodExpiresDate"])
        originalTransactionId = try fields.requiredString("originalTransactionId")
        expirationIntent = try fields.enumeration("expirationIntent")
        autoRenewProductId = try fields.string("autoRenewProductId")
        productId = try fields.string("productId")
        autoRenewStatus = try fields.enumeration("autoRenewStatus")
        isInBillingRetryPeriod = try fields.bool("isInBillingRetryPeriod")
        priceIncreaseStatus = try fields.enumeration("priceIncreaseStatus")
        gracePeriodExpiresDate = try fields.date("gracePeriodExpiresDate")
        offerType = try fields.enumeration("offerType")
        offerIdentifier = try fields.string("offerIdentifier")
        offerDiscountType = try fields.enumeration("offerDiscountType")
        offerPeriod = try fields.string("offerPeriod")
        signedDate = try fields.requiredDate("signedDate")
        environment = try fields.requiredString("environment")
        recentSubscriptionStartDate = try fields.date("recentSubscriptionStartDate")
        renewalDate = try fields.date("renewalDate")
        currency = try fields.string("currency")
        renewalPrice = try fields.integer("renewalPrice")
        renewalQuantity = try fields.integer("renewalQuantity")
        eligibleWinBackOfferIds = try fields.strings("eligibleWinBackOfferIds")
        appAccountToken = try fields.uuid("appAccountToken")
        appTransactionId = try fields.string("appTransactionId")
        renewalBillingPlanType = try fields.enumeration("renewalBillingPlanType")
        commitmentInfo = try fields.object("commitmentInfo", RenewalCommitmentInfo.init)
        advancedCommerceInfo = try fields.object("advancedCommerceInfo", AdvancedCommerceRenewalInfo.init)
        multiSeatInfo = try fields.object("multiSeatInfo", RenewalMultiSeatInfo.init)
        self.fields = fields.object
    }
}
