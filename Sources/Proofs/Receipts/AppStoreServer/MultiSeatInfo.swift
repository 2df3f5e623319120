/// The seats of a purchase (`multiSeatInfo` of a transaction).
public final class TransactionMultiSeatInfo: PayloadObject {
    public let invitationManagement: OpenEnumeration<InvitationManagement>?
    public let priceTiers: [MultiSeatPriceTier]?
    /// The number of seats that the App Store has refunded. The transaction stays valid for the others.
    public let revokedSeatQuantity: Int64?

    init(_ fields: PayloadFields) throws(PayloadError) {
        invitationManagement = try fields.enumeration("invitationManagement")
        priceTiers = try fields.objects("priceTiers", MultiSeatPriceTier.init)
        revokedSeatQuantity = try fields.integer("revokedSeatQuantity")
    }
}

/// The seats of the next period of a subscription (`multiSeatInfo` of renewal information).
public final class RenewalMultiSeatInfo: PayloadObject {
    public let renewalPriceTiers: [MultiSeatPriceTier]?

    init(_ fields: PayloadFields) throws(PayloadError) {
        renewalPriceTiers = try fields.objects("renewalPriceTiers", MultiSeatPriceTier.init)
    }
}

/// The seats at one price, in milliunits of the currency for each (`priceTiers`, `renewalPriceTiers`).
public final class MultiSeatPriceTier: Sendable {
    public let price: Int64
    public let quantity: Int64

    init(_ fields: PayloadFields) throws(PayloadError) {
        price = try fields.requiredInteger("price")
        quantity = try fields.requiredInteger("quantity")
    }
}
