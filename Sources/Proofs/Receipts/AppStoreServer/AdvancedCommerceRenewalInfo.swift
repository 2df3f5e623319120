/// The Advanced Commerce part of signed renewal information (`advancedCommerceInfo`).
final class AdvancedCommerceRenewalInfo: PayloadObject {
    let consistencyToken: String?
    let descriptors: AdvancedCommerceDescriptors?
    let items: [AdvancedCommerceRenewalItem]?
    let period: OpenEnumeration<AdvancedCommercePeriod>?
    let requestReferenceId: String?
    let taxCode: String?

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
final class AdvancedCommerceRenewalItem: Sendable {
    let sku: String?
    let description: String?
    let displayName: String?
    let offer: AdvancedCommerceOffer?
    let price: Int64?
    let priceIncreaseInfo: AdvancedCommercePriceIncreaseInfo?

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
final class AdvancedCommercePriceIncreaseInfo: Sendable {
    let dependentSKUs: [String]?
    let price: Int64?
    let status: OpenEnumeration<AdvancedCommercePriceIncreaseInfoStatus>?

    init(_ fields: PayloadFields) throws(PayloadError) {
        dependentSKUs = try fields.strings("dependentSKUs")
        price = try fields.integer("price")
        status = try fields.enumeration("status")
    }
}
