/// A region of the catalog with its currency and its tax.
struct PlayRegion: Sendable {
    /// The version of the regions that prices are converted for.
    static let version = "2025/03"

    let currency: String
    /// The tax that a price in the region includes, in percent.
    let taxPercent: Int

    /// The regions whose currency the local Play knows. A price elsewhere may have any.
    static let all: [String: PlayRegion] = [
        "AE": .init("AED", 5), "AT": .init("EUR", 20), "AU": .init("AUD", 10), "BE": .init("EUR", 21),
        "BR": .init("BRL", 0), "CA": .init("CAD", 0), "CH": .init("CHF", 8), "CL": .init("CLP", 19),
        "CO": .init("COP", 19), "CZ": .init("CZK", 21), "DE": .init("EUR", 19), "DK": .init("DKK", 25),
        "EG": .init("EGP", 14), "ES": .init("EUR", 21), "FI": .init("EUR", 25), "FR": .init("EUR", 20),
        "GB": .init("GBP", 20), "GR": .init("EUR", 24), "HK": .init("HKD", 0), "HU": .init("HUF", 27),
        "ID": .init("IDR", 11), "IE": .init("EUR", 23), "IL": .init("ILS", 18), "IN": .init("INR", 18),
        "IT": .init("EUR", 22), "JP": .init("JPY", 10), "KR": .init("KRW", 10), "MX": .init("MXN", 16),
        "MY": .init("MYR", 8), "NG": .init("NGN", 7), "NL": .init("EUR", 21), "NO": .init("NOK", 25),
        "NZ": .init("NZD", 15), "PE": .init("PEN", 18), "PH": .init("PHP", 12), "PL": .init("PLN", 23),
        "PT": .init("EUR", 23), "QA": .init("QAR", 0), "RO": .init("RON", 21), "SA": .init("SAR", 15),
        "SE": .init("SEK", 25), "SG": .init("SGD", 9), "TH": .init("THB", 7), "TR": .init("TRY", 20),
        "TW": .init("TWD", 5), "US": .init("USD", 0), "VN": .init("VND", 10), "ZA": .init("ZAR", 15),
    ]

    private init(_ currency: String, _ taxPercent: Int) {
        (self.currency, self.taxPercent) = (currency, taxPercent)
    }
}

/// The exchange of prices. The rates of the local Play never change.
enum PlayExchange {
    /// The amount of each currency for a dollar.
    private static let rates: [String: Double] = [
        "AED": 3.67, "AUD": 1.55, "BRL": 5.6, "CAD": 1.38, "CHF": 0.9, "CLP": 950, "COP": 4100, "CZK": 23, "DKK": 6.9,
        "EGP": 49, "EUR": 0.92, "GBP": 0.79, "HKD": 7.8, "HUF": 365, "IDR": 16_000, "ILS": 3.7, "INR": 84, "JPY": 150,
        "KRW": 1350, "MXN": 18, "MYR": 4.5, "NGN": 1550, "NOK": 10.8, "NZD": 1.65, "PEN": 3.75, "PHP": 57, "PLN": 4,
        "QAR": 3.64, "RON": 4.6, "SAR": 3.75, "SEK": 10.5, "SGD": 1.34, "THB": 35, "TRY": 33, "TWD": 32, "USD": 1,
        "VND": 25_000, "ZAR": 18,
    ]

    /// A price in another currency, rounded to its smallest unit, with a tax on it.
    ///
    /// - Throws: `PublisherError`, `invalidValue`, for a currency without a rate, or an amount that is too large.
    static func convert(_ price: Money, to currency: String, taxPercent: Int = 0) throws(PublisherError)
        -> (price: Money, tax: Money)
    {
        guard let from = rates[price.currencyCode], let to = rates[currency] else {
            throw .invalidValue(
                "price.currencyCode", "one of \(rates.keys.sorted().joined(separator: ", ")).")
        }
        let unit = Money.smallestUnit(of: currency)
        let net = Double(price.billionths ?? 0) / from * to
        let total = (net * Double(100 + taxPercent) / 100 / Double(unit)).rounded()
        guard total * Double(unit) < Double(Money.maximumUnits) * 1_000_000_000 else {
            throw .invalidValue("price", "it is too large in \(currency).")
        }
        let tax = total - (net / Double(unit)).rounded()
        return (
            Money(currencyCode: currency, billionths: Int64(total) * unit),
            Money(currencyCode: currency, billionths: Int64(tax) * unit)
        )
    }
}

/// The body of `pricing:convertRegionPrices`, and its answer.
enum RegionPrices {
    struct Request: Decodable {
        let price: Money?
        let productTaxCategoryCode: String?
    }

    struct Region: Encodable {
        let regionCode: String
        let price: Money
        let taxAmount: Money
    }

    struct OtherRegions: Encodable {
        let usdPrice: Money
        let eurPrice: Money
    }

    struct Answer: Encodable {
        let convertedRegionPrices: [String: Region]
        let convertedOtherRegionsPrice: OtherRegions
        let regionVersion: OneTimeProduct.RegionsVersion
    }

    /// Converts a price without tax for each region, with the tax of the region.
    static func answer(to request: Request) throws -> Answer {
        guard let price = request.price else { throw PublisherError.required("price") }
        try CatalogCheck.amount(price, "price")
        var regions: [String: Region] = [:]
        for (code, region) in PlayRegion.all {
            let converted = try PlayExchange.convert(price, to: region.currency, taxPercent: region.taxPercent)
            regions[code] = Region(regionCode: code, price: converted.price, taxAmount: converted.tax)
        }
        return Answer(
            convertedRegionPrices: regions,
            convertedOtherRegionsPrice: OtherRegions(
                usdPrice: try PlayExchange.convert(price, to: "USD").price,
                eurPrice: try PlayExchange.convert(price, to: "EUR").price),
            regionVersion: .init(version: PlayRegion.version))
    }
}
