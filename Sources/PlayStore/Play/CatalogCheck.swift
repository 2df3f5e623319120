import Proofs

/// Checks that the resources of a catalog share. Each throws `PublisherError`, `required` or `invalidValue`, with the path of the field.
enum CatalogCheck {
    /// The limits that Google documents.
    private static let identifierLength = 63
    private static let tagLength = 20
    private static let maximumTags = 20

    /// Checks the identifier of a base plan, a purchase option or an offer.
    static func identifier(_ text: String?, _ field: String) throws(PublisherError) {
        guard let text else { throw .required(field) }
        guard text.utf8.count <= identifierLength, text.wholeMatch(of: /[a-z0-9][a-z0-9-]*/) != nil else {
            throw .invalidValue(
                field,
                "it begins with a digit or small letter, and has at most \(identifierLength) digits, small letters and hyphens."
            )
        }
    }

    static func tags(_ tags: [OneTimeProduct.OfferTag]?, _ field: String) throws(PublisherError) {
        guard (tags ?? []).count <= maximumTags else { throw .invalidValue(field, "at most \(maximumTags).") }
        for tag in tags ?? [] {
            guard let text = tag.tag, text.utf8.count <= tagLength, text.wholeMatch(of: /[a-z0-9-]+/) != nil else {
                throw .invalidValue(
                    "\(field).tag", "it has 1 to \(tagLength) digits, small letters and hyphens.")
            }
        }
    }

    static func region(_ code: String?, _ field: String) throws(PublisherError) {
        guard code?.wholeMatch(of: /[A-Z]{2}/) != nil else {
            throw .invalidValue(field, "a country of ISO 3166-1 alpha-2, such as US.")
        }
    }

    /// Checks the countries of a list, each another one.
    static func regions(_ codes: [String?], _ field: String) throws(PublisherError) {
        for code in codes { try region(code, "\(field).regionCode") }
        guard Set(codes).count == codes.count else { throw .invalidValue(field, "each needs another regionCode.") }
    }

    /// Checks a price, which is in the currency of its region.
    static func price(_ price: Money, in regionCode: String?, _ field: String) throws(PublisherError) {
        try amount(price, field)
        let expected = regionCode.flatMap { PlayRegion.all[$0]?.currency }
        guard expected == nil || expected == price.currencyCode else {
            throw .invalidValue(
                field,
                "Invalid currency for region code \(regionCode ?? ""). Expected \(expected ?? "") but got \(price.currencyCode)."
            )
        }
    }

    /// Checks an amount of money above 0.
    static func amount(_ amount: Money, _ field: String) throws(PublisherError) {
        guard amount.currencyCode.wholeMatch(of: /[A-Z]{3}/) != nil, (amount.billionths ?? 0) > 0 else {
            throw .invalidValue(
                field, "an amount of at most \(Money.maximumUnits) units of a currency of ISO 4217.")
        }
    }

    /// Checks a discount as a share of the price.
    static func share(_ share: Double, _ field: String) throws(PublisherError) {
        guard share > 0, share < 1 else { throw .invalidValue(field, "more than 0, and less than 1.") }
    }
}
