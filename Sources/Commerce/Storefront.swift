/// An App Store territory: its country, its number in signed transactions and the currency it charges.
public struct Storefront: Hashable, Sendable {
    /// The ISO 3166-1 alpha-3 code, such as `KOR`.
    public let countryCode: String
    /// Apple's number for the storefront (`storefrontId` of a signed transaction), such as `143466`.
    public let identifier: String
    /// The ISO 4217 code, such as `KRW`.
    public let currency: String

    /// - Returns: nil when the country is none of `all`.
    public init?(countryCode: String) {
        guard let known = Self.all.first(where: { $0.countryCode == countryCode }) else { return nil }
        self = known
    }

    private init(_ countryCode: String, _ identifier: String, _ currency: String) {
        self.countryCode = countryCode
        self.identifier = identifier
        self.currency = currency
    }

    /// The storefronts a catalog may name. Numbers as Apple's Search Ads and iTunes headers use them.
    public static let all = [
        Storefront("AUS", "143460", "AUD"), Storefront("CAN", "143455", "CAD"), Storefront("CHN", "143465", "CNY"),
        Storefront("DEU", "143443", "EUR"), Storefront("ESP", "143454", "EUR"), Storefront("FRA", "143442", "EUR"),
        Storefront("GBR", "143444", "GBP"), Storefront("ITA", "143450", "EUR"), Storefront("JPN", "143462", "JPY"),
        Storefront("KOR", "143466", "KRW"), Storefront("USA", "143441", "USD"),
    ]
}
