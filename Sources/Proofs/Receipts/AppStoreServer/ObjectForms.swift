/// The forms of the objects in transactions and renewal information. The ledger keeps their JSON.
extension PayloadForm {
    /// The progress of a commitment of several billing periods (`commitmentInfo` of a transaction).
    static let commitment: [String: PayloadForm] = [
        "billingPeriodNumber": .integer, "commitmentExpiresDate": .date, "commitmentPrice": .integer,
        "totalBillingPeriods": .integer,
    ]
    /// The continuation of a commitment of several billing periods (`commitmentInfo` of renewal information; price in
    /// milliunits).
    static let renewalCommitment: [String: PayloadForm] = [
        "commitmentAutoRenewProductId": .text, "commitmentAutoRenewStatus": .integer,
        "commitmentRenewalBillingPlanType": .text, "commitmentRenewalDate": .date, "commitmentRenewalPrice": .integer,
    ]
    /// The seats of a purchase (`multiSeatInfo` of a transaction). After a refund of some, it stays valid for the others.
    static let seats: [String: PayloadForm] = [
        "invitationManagement": .text, "priceTiers": priceTiers, "revokedSeatQuantity": .integer,
    ]
    /// The seats of the next period of a subscription (`multiSeatInfo` of renewal information).
    static let renewalSeats: [String: PayloadForm] = ["renewalPriceTiers": priceTiers]
    /// The Advanced Commerce part of a transaction (`advancedCommerceInfo`).
    static let commerce: [String: PayloadForm] = [
        "descriptors": descriptors, "estimatedTax": .integer,
        "items": items([
            "refunds": .objects([
                "refundAmount": .integer, "refundDate": .date, "refundReason": .text, "refundType": .text,
            ]), "revocationDate": .date,
        ]), "period": .text, "requestReferenceId": .text, "taxCode": .text, "taxExclusivePrice": .integer,
        "taxRate": .text,
    ]
    /// The Advanced Commerce part of renewal information (`advancedCommerceInfo`).
    static let renewalCommerce: [String: PayloadForm] = [
        "consistencyToken": .text, "descriptors": descriptors,
        "items": items(["priceIncreaseInfo": .object(["dependentSKUs": .texts, "price": .integer, "status": .text])]),
        "period": .text, "requestReferenceId": .text, "taxCode": .text,
    ]

    private static let priceTiers = objects(["price": .required(.integer), "quantity": .required(.integer)])

    /// The display name and the description of a purchase.
    private static let descriptors = object(["description": .required(.text), "displayName": .required(.text)])

    /// The items of a purchase or a subscription, each with the offer on it.
    private static func items(_ others: [String: PayloadForm]) -> PayloadForm {
        let common: [String: PayloadForm] = [
            "SKU": .text, "description": .text, "displayName": .text,
            "offer": .object([
                "period": .required(.text), "periodCount": .required(.integer), "price": .required(.integer),
                "reason": .required(.text),
            ]), "price": .integer,
        ]
        return .objects(common.merging(others) { $1 })
    }
}

/// The seats at one price, in milliunits of the currency for each (`priceTiers`, `renewalPriceTiers`).
public struct MultiSeatPriceTier: Hashable, Sendable, Codable {
    public let price: Int64
    public let quantity: Int64

    package init(price: Int64, quantity: Int64) { (self.price, self.quantity) = (price, quantity) }

    static func all(_ name: String, of info: PayloadFields?) -> [MultiSeatPriceTier]? {
        guard let info else { return nil }
        let tiers = try? info.objects(name) { (tier) throws(ProofRefusal) in
            MultiSeatPriceTier(price: try tier.requiredInteger("price"), quantity: try tier.requiredInteger("quantity"))
        }
        return tiers ?? []
    }
}
