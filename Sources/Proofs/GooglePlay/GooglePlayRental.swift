/// A period of ISO 8601, such as `P2D` or `PT48H`, as Google Play states those of a rental.
package struct RentalPeriod: Hashable, Sendable {
    private var months = 0
    private var seconds: Int64 = 0

    private static let maximumNumber = 999
    private static let maximumMonths = 12 * maximumNumber
    private static let maximumSeconds = Int64(maximumNumber) * 366 * 86_400

    /// - Returns: Nil unless the text is `P`, numbers from 0 to 999 with Y, M, W and D, then perhaps `T` and numbers with H, M and S. The
    ///   period is neither empty nor longer than 999 years.
    package init?(_ text: String) {
        guard text.utf8.count <= 64, text.utf8.first == UInt8(ascii: "P") else { return nil }
        var (number, isTime): (Int?, Bool) = (nil, false)
        for character in text.utf8.dropFirst() {
            switch (character, isTime, number) {
            case (UInt8(ascii: "0")...UInt8(ascii: "9"), _, _):
                number = (number ?? 0) * 10 + Int(character - UInt8(ascii: "0"))
                guard number ?? 0 <= Self.maximumNumber else { return nil }
                continue
            case (UInt8(ascii: "T"), false, nil):
                isTime = true
                continue
            case (UInt8(ascii: "Y"), false, let years?): months += 12 * years
            case (UInt8(ascii: "M"), false, let count?): months += count
            case (UInt8(ascii: "W"), false, let weeks?): seconds += Int64(weeks) * 7 * 86_400
            case (UInt8(ascii: "D"), false, let days?): seconds += Int64(days) * 86_400
            case (UInt8(ascii: "H"), true, let hours?): seconds += Int64(hours) * 3600
            case (UInt8(ascii: "M"), true, let minutes?): seconds += Int64(minutes) * 60
            case (UInt8(ascii: "S"), true, let count?): seconds += Int64(count)
            default: return nil
            }
            number = nil
        }
        guard number == nil, months > 0 || seconds > 0, months <= Self.maximumMonths, seconds <= Self.maximumSeconds
        else { return nil }
    }

    /// The end of the period in UTC.
    package func end(from start: Timestamp) -> Timestamp {
        let month = SubscriptionPeriod(value: months, unit: .month)
        return (months == 0 ? start : start.adding(month, dayOfMonth: start.dayOfMonth)).adding(seconds: seconds)
    }
}

/// The terms of a purchase option by which a one-time product is rented (`OneTimeProductRentPurchaseOption`).
///
/// A purchase says that it is a rental, and not until when: `RentOfferDetails` and `RentalDetails` have no members. Only the catalog of
/// the app has the periods.
package struct GooglePlayRental: Hashable, Sendable {
    /// The maximum size of a product of the catalog in bytes, with its prices in each region.
    package static let maximumSize = 1 << 20

    let productId: String
    let purchaseOptionId: String
    /// "The amount of time a user has the entitlement for. Starts at purchase flow completion."
    let rentalPeriod: RentalPeriod
    /// "The amount of time the user has after starting consuming the entitlement before it is revoked"; nil for no such limit.
    let expirationPeriod: RentalPeriod?

    /// The rentals among the purchase options of a product (`OneTimeProduct`). One whose period has another form is left out.
    ///
    /// - Throws: `ProofRefusal` for bytes that are no product.
    package static func all(_ bytes: [UInt8], of productId: String) throws(ProofRefusal) -> [GooglePlayRental] {
        let options = try PayloadFields(json: bytes, upTo: maximumSize).readableObjects("purchaseOptions") {
            (option) throws(ProofRefusal) in
            try GooglePlayRental(option, of: productId)
        }
        return options.values.compactMap(\.self)
    }

    /// - Returns: Nil for an option to buy, and for a period of another form.
    private init?(_ option: PayloadFields, of productId: String) throws(ProofRefusal) {
        guard let rent = try option.object("rentOption"),
            let period = try rent.string("rentalPeriod").flatMap({ RentalPeriod($0) })
        else { return nil }
        (self.productId, rentalPeriod) = (productId, period)
        purchaseOptionId = try option.requiredString("purchaseOptionId")
        expirationPeriod = try rent.string("expirationPeriod").flatMap { RentalPeriod($0) }
    }
}

extension [GooglePlayRental] {
    /// The terms of a rented item; nil if the catalog does not have its purchase option any more.
    subscript(item: GooglePlayAnswer.ProductLineItem) -> GooglePlayRental? {
        first {
            $0.productId.hasSameBytes(as: item.productId)
                && item.purchaseOptionId.map($0.purchaseOptionId.hasSameBytes) ?? false
        }
    }
}
