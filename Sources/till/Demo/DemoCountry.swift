import Catalog
import Foundation
import Proofs

/// A country in which the shop of a demonstration sells, with its own storefront and currency.
struct DemoCountry: Sendable {
    let storefront: Storefront
    /// The price of one unit of its currency, in the currency of the catalog; nil at home.
    let rate: Int64?
    /// The part of all sales, in percent.
    let share: Int
    /// The hours of the day at which its customers buy. No other country has them. A period ends at the hour at which it began, so
    /// that all that is due at such an hour belongs to this country.
    let hours: [Int]
    fileprivate let names: [String]
    /// An account whose app never sends its purchase to the service.
    let stranger: String

    private init(_ code: String, rate: Int64?, share: Int, hours: [Int], names: String, stranger: String) {
        storefront = Storefront(countryCode: code) ?? Storefront.all[0]
        self.names = names.split(separator: " ").map(String.init)
        (self.rate, self.share, self.hours, self.stranger) = (rate, share, hours, stranger)
    }

    static let home = DemoCountry(
        "KOR", rate: nil, share: 55, hours: [10, 19],
        names: """
            bora chanho dahee mina eunji gaeul haneul inho jiwoo seojun taeyang wonbin yuna areum byeol dooly hana jun nari sora \
            woojin 민지
            """, stranger: "sumin")

    static let all = [
        home,
        DemoCountry(
            "USA", rate: 1390, share: 30, hours: [2],
            names: "ada emma grace leo liam maya noah olivia paul quinn rosa tom uma victor zoe", stranger: "walter"),
        DemoCountry(
            "DEU", rate: 1510, share: 15, hours: [16],
            names: "finn anna ben greta jonas kira lena mats olga pia xenia", stranger: "fritz"),
    ]

    /// The rates of all countries, as the file of a catalog has them.
    static func exchangeRates(of day: CalendarDay) -> String {
        let rates = all.compactMap { country in
            country.rate.map { "\"\(country.storefront.currency)\": \"\($0)\"" }
        }
        return """
            {"date": "\(day)", "currency": "\(home.storefront.currency)", "rates": {\(rates.joined(separator: ", "))}}
            """
    }

    /// The name of a customer by number, such as `mina` and later `mina2`.
    func name(_ number: Int) -> String {
        let (round, index) = (number / names.count, number % names.count)
        return names[index] + (round == 0 ? "" : String(round + 1))
    }

    /// The products of a configuration at the prices of this country: the next amount that ends with 99 cents.
    func configuration(_ catalog: StoreKitConfiguration) throws(CatalogError) -> StoreKitConfiguration {
        guard let rate else { return catalog }
        let text = catalog.text
            .replacing(/"displayPrice": "([0-9]+)"/) { match in
                "\"displayPrice\": \"\((Int64(match.1) ?? 0) / rate).99\""
            }
            .replacing(/"_storefront": "[A-Z]+"/) { _ in "\"_storefront\": \"\(storefront.countryCode)\"" }
        return try StoreKitConfiguration(json: Array(text.utf8), file: Catalog.configurationFile)
    }
}
