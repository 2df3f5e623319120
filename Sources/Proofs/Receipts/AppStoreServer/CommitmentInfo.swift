/// The progress of a commitment of several billing periods (`commitmentInfo` of a transaction; price in milliunits).
final class TransactionCommitmentInfo: PayloadObject {
    let billingPeriodNumber: Int64?
    let commitmentExpiresDate: Timestamp?
    let commitmentPrice: Int64?
    let totalBillingPeriods: Int64?

    init(_ fields: PayloadFields) throws(PayloadError) {
        billingPeriodNumber = try fields.integer("billingPeriodNumber")
        commitmentExpiresDate = try fields.date("commitmentExpiresDate")
        commitmentPrice = try fields.integer("commitmentPrice")
        totalBillingPeriods = try fields.integer("totalBillingPeriods")
    }
}

/// The continuation of a commitment of several billing periods (`commitmentInfo` of renewal information; price in
/// milliunits).
public final class RenewalCommitmentInfo: PayloadObject {
    public let commitmentAutoRenewProductId: String?
    public let commitmentAutoRenewStatus: OpenEnumeration<AutoRenewStatus>?
    public let commitmentRenewalBillingPlanType: OpenEnumeration<RenewalBillingPlanType>?
    public let commitmentRenewalDate: Timestamp?
    public let commitmentRenewalPrice: Int64?

    init(_ fields: PayloadFields) throws(PayloadError) {
        commitmentAutoRenewProductId = try fields.string("commitmentAutoRenewProductId")
        commitmentAutoRenewStatus = try fields.enumeration("commitmentAutoRenewStatus")
        commitmentRenewalBillingPlanType = try fields.enumeration("commitmentRenewalBillingPlanType")
        commitmentRenewalDate = try fields.date("commitmentRenewalDate")
        commitmentRenewalPrice = try fields.integer("commitmentRenewalPrice")
    }
}
