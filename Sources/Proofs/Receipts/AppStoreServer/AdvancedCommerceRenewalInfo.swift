/// The Advanced Commerce part of signed renewal information (`advancedCommerceInfo`).
public final class AdvancedCommerceRenewalInfo: PayloadObject {
    public let consistencyToken: String?
    public let descriptors: AdvancedCommerceDescriptors?
    public let items: [AdvancedCommerceRenewalItem]?
    public let period: OpenEnumeration<AdvancedCommercePeriod>?
    public let requestReferenceId: String?
    public let taxCode: String?

    init(_ fields: PayloadFields) throws(PayloadError) {
        consistencyToken = try fields.string("consistencyToken")
        descriptors = try fields.object("descriptors", AdvancedCommerceDescriptors.init)
        items = try fields.objects("items", AdvancedCommerceRenewalItem.init)
        period = try fields.enumeration("period")
        requestReferenceId = try fields.string("requestReferenceId")
        taxCode = try fields.string("taxCode")
    }
}

/// One item of an Advanced Commerce subscription (price in milliunits).
public final class AdvancedCommerceRenewalItem: Sendable {
    public let sku: String?
    public let description: String?
    public let displayName: String?
    public let offer: AdvancedCommerceOffer?
    public let price: Int64?
    public let priceIncreaseInfo: AdvancedCommercePriceIncreaseInfo?

    init(_ fields: PayloadFields) throws(PayloadError) {
        sku = try fields.string("sku")
        description = try fields.string("description")
        displayName = try fields.string("displayName")
        offer = try fields.object("offer", AdvancedCommerceOffer.init)
        price = try fields.integer("price")
        priceIncreaseInfo = try fields.object("priceIncreaseInfo", AdvancedCommercePriceIncreaseInfo.init)
    }
}

/// A price increase of an item (price in milliunits).
public final class AdvancedCommercePriceIncreaseInfo: Sendable {
    public let dependentSKUs: [String]?
    public let price: Int64?
    public let status: OpenEnumeration<AdvancedCommercePriceIncreaseInfoStatus>?

    init(_ fields: PayloadFields) throws(PayloadError) {
        dependentSKUs = try fields.strings("dependentSKUs")
        price = try fields.integer("price")
        status = try fields.enumeration("status")
    }
}
