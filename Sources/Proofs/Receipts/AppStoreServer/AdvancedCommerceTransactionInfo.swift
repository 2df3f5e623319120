/// The Advanced Commerce part of a signed transaction (`advancedCommerceInfo`; prices in milliunits).
public final class AdvancedCommerceTransactionInfo: PayloadObject {
    public let descriptors: AdvancedCommerceDescriptors?
    public let estimatedTax: Int64?
    public let items: [AdvancedCommerceTransactionItem]?
    public let period: OpenEnumeration<AdvancedCommercePeriod>?
    public let requestReferenceId: String?
    public let taxCode: String?
    public let taxExclusivePrice: Int64?
    public let taxRate: String?

    init(_ fields: PayloadFields) throws(PayloadError) {
        descriptors = try fields.object("descriptors", AdvancedCommerceDescriptors.init)
        estimatedTax = try fields.integer("estimatedTax")
        items = try fields.objects("items", AdvancedCommerceTransactionItem.init)
        period = try fields.enumeration("period")
        requestReferenceId = try fields.string("requestReferenceId")
        taxCode = try fields.string("taxCode")
        taxExclusivePrice = try fields.integer("taxExclusivePrice")
        taxRate = try fields.string("taxRate")
    }
}

/// One item of an Advanced Commerce purchase (price in milliunits).
public final class AdvancedCommerceTransactionItem: Sendable {
    public let sku: String?
    public let description: String?
    public let displayName: String?
    public let offer: AdvancedCommerceOffer?
    public let price: Int64?
    public let refunds: [AdvancedCommerceRefund]?
    public let revocationDate: Timestamp?

    init(_ fields: PayloadFields) throws(PayloadError) {
        sku = try fields.string("sku")
        description = try fields.string("description")
        displayName = try fields.string("displayName")
        offer = try fields.object("offer", AdvancedCommerceOffer.init)
        price = try fields.integer("price")
        refunds = try fields.objects("refunds", AdvancedCommerceRefund.init)
        revocationDate = try fields.date("revocationDate")
    }
}

/// A refund of an item (amount in milliunits).
public final class AdvancedCommerceRefund: Sendable {
    public let refundAmount: Int64?
    public let refundDate: Timestamp?
    public let refundReason: OpenEnumeration<AdvancedCommerceRefundReason>?
    public let refundType: OpenEnumeration<AdvancedCommerceRefundType>?

    init(_ fields: PayloadFields) throws(PayloadError) {
        refundAmount = try fields.integer("refundAmount")
        refundDate = try fields.date("refundDate")
        refundReason = try fields.enumeration("refundReason")
        refundType = try fields.enumeration("refundType")
    }
}
