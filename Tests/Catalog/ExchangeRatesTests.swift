import Catalog
import Foundation
import Proofs
import TestSupport
import Testing

/// The rates in a catalog's folder.
@Suite struct ExchangeRatesTests {
    private static func rates(_ text: String) throws -> ExchangeRates? {
        let folder = try TemporaryFolder()
        try FileManager.default.copyItem(at: Project.products, to: folder.folder("catalog"))
        try Data(text.utf8).write(to: folder.folder("catalog").appending(path: ExchangeRates.file))
        return try Catalog(folder: folder.folder("catalog")).exchangeRates
    }

    @Test func `an amount is converted at the rate of its currency`() throws {
        let text = #"{"date": "2026-11-01", "currency": "KRW", "rates": {"USD": "1390.5", "JPY": "9.1"}}"#
        let rates = try #require(try Self.rates(text))
        #expect(rates.day.description == "2026-11-01" && rates.currency == "KRW")
        func converted(_ milliunits: Int64, _ currency: String) -> Int64? {
            rates.converted(Price(milliunits: milliunits, currency: currency))?.milliunits
        }
        #expect(converted(4_990, "USD") == 6_938_595)
        #expect(converted(-1_000_000, "JPY") == -9_100_000)
        #expect(converted(1_200_000, "KRW") == 1_200_000)
        #expect(converted(1, "EUR") == nil)
        #expect(converted(.max, "USD") == nil)
        #expect(try Catalog(folder: Project.products).exchangeRates == nil)
    }

    @Test(arguments: [
        #"{"currency": "KRW", "rates": {}}"#, #"{"date": "1 May", "currency": "KRW", "rates": {}}"#,
        #"{"date": "2026-11-01", "currency": "won", "rates": {}}"#,
        #"{"date": "2026-11-01", "currency": "KRW", "rates": {"USD": 1390.5}}"#,
        #"{"date": "2026-11-01", "currency": "KRW", "rates": {"USD": "0"}}"#,
        #"{"date": "2026-11-01", "currency": "KRW", "rates": {"dollar": "1390"}}"#,
        #"{"date": "2026-11-01", "currency": "KRW", "rates": {}, "source": "x"}"#,
    ])
    func `other content is refused`(text: String) throws {
        #expect(throws: CatalogError.self) { try Self.rates(text) }
    }
}
