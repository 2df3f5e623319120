/// An App Store territory with its country, its number in signed transactions and its currency.
public struct Storefront: Hashable, Sendable {
    /// The ISO 3166-1 alpha-3 code, such as `KOR`.
    public let countryCode: String
    /// The ISO 3166-1 alpha-2 code, such as `KR`.
    public let shortCountryCode: String
    /// Apple's number of the storefront (`storefrontId` of a signed transaction), such as `143466`.
    public let identifier: String
    /// The ISO 4217 code, such as `KRW`.
    public let currency: String

    /// - Returns: Nil if no storefront of `all` has the country.
    public init?(countryCode: String) {
        guard let known = Self.all.first(where: { $0.countryCode == countryCode }) else { return nil }
        self = known
    }

    init(_ countryCode: String, _ shortCountryCode: String, _ identifier: String, _ currency: String) {
        self.countryCode = countryCode
        self.shortCountryCode = shortCountryCode
        self.identifier = identifier
        self.currency = currency
    }
}
