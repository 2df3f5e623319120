import Foundation
import Proofs

/// The rates at which the console adds up figures in several currencies, from `ExchangeRates.json`.
package final class ExchangeRates: Sendable {
    /// The name of the file in the folder of a catalog.
    package static let file = "ExchangeRates.json"

    package let day: CalendarDay
    /// The currency to which they convert.
    package let currency: String
    /// The price of one unit of each other currency.
    private let rates: [String: Double]

    init(_ file: CatalogReader) throws(CatalogError) {
        try file.check(keys: ["date", "currency", "rates"])
        let date = try file.required("date")
        guard let day = CalendarDay(try date.string()) else { throw date.failure("it is no date such as 2026-11-01") }
        self.day = day
        let target = try file.required("currency")
        currency = try Self.code(try target.string(), target)
        let prices = try file.required("rates")
        var rates: [String: Double] = [:]
        for code in try prices.object().keys.sorted() {
            let price = try prices.required(code)
            let text = try price.string()
            guard text.wholeMatch(of: /[0-9]{1,9}(\.[0-9]{1,9})?/) != nil, let rate = Double(text), rate > 0 else {
                throw price.failure("it is no rate in quotes such as \"1390.5\"")
            }
            rates[try Self.code(code, price)] = rate
        }
        self.rates = rates
    }

    /// - Returns: Nil if the folder of the catalog has no rates.
    convenience init?(folder: URL) throws(CatalogError) {
        guard let file = try CatalogReader(optional: Self.file, in: folder, upTo: .max) else { return nil }
        try self.init(file)
    }

    private static func code(_ text: String, _ reader: CatalogReader) throws(CatalogError) -> String {
        guard text.wholeMatch(of: /[A-Z]{3}/) != nil else { throw reader.failure("it is no currency such as KRW") }
        return text
    }

    /// The amount in the currency of the rates, rounded. Nil without a rate.
    package func converted(_ price: Price) -> Price? {
        guard price.currency != currency else { return price }
        guard let rate = rates[price.currency] else { return nil }
        let amount = (Double(price.milliunits) * rate).rounded()
        return Int64(exactly: amount).map { Price(milliunits: $0, currency: currency) }
    }
}
