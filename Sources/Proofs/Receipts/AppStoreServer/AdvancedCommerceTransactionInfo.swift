/// The Advanced Commerce part of a signed transaction (`advancedCommerceInfo`; prices in milliunits).
final class AdvancedCommerceTransactionInfo: PayloadObject {
    let descriptors: AdvancedCommerceDescriptors?
    let estimatedTax: Int64?
    let items: [AdvancedCommerceTransactionItem]?
    let period: OpenEnumeration<AdvancedCommercePeriod>?
    let requestReferenceId: String?
    let taxCode: String?
    let taxExclusivePrice: Int64?
    let taxRate: String?

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
final class AdvancedCommerceTransactionItem: Sendable {
    let sku: String?
    let description: String?
    let displayName: String?
    let offer: AdvancedCommerceOffer?
    let price: Int64?
    let refunds: [AdvancedCommerceRefund]?
    let revocationDate: Timestamp?

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
final class AdvancedCommerceRefund: Sendable {
    let refundAmount: Int64?
    let refundDate: Timestamp?
    let refundReason: OpenEnumeration<AdvancedCommerceRefundReason>?
    let refundType: OpenEnumeration<AdvancedCommerceRefundType>?

    init(_ fields: PayloadFields) throws(PayloadError) {
        refundAmount = try fields.integer("refundAmount")
        refundDate = try fields.date("refundDate")
        refundReason = try fields.enumeration("refundReason")
        refundType = try fields.enumeration("refundType")
    }
}
