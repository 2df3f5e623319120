import Commerce

/// What a sum is of: a metric, on a day, of a product, a storefront and a currency.
package struct FigureKey: Hashable, Sendable {
    package let day: CalendarDay
    package let metric: FigureMetric
    package let subject: FigureSubject
    /// ISO 4217; empty for a metric that is no money.
    package let currency: ByteKey

    package init(day: CalendarDay, metric: FigureMetric, subject: FigureSubject, currency: ByteKey = "") {
        self.day = day
        self.metric = metric
        self.subject = subject
        self.currency = currency
    }
}

/// The app, origin, product and storefront that a sum is of.
package struct FigureSubject: Hashable, Sendable {
    /// The number that stands for the bundle identifier in the ledger.
    package let app: Int64
    package let origin: Origin
    package let product: ByteKey
    /// ISO 3166-1, three letters; empty if none was stated.
    package let storefront: ByteKey

    /// The longest product identifier that is told apart, in bytes: longer ones are no key of a database.
    static let maximumProductLength = 255

    /// - Parameter storefront: As it was stated; another text than three capital letters is none.
    package init(app: Int64, origin: Origin, product: String, storefront: String?) {
        self.app = app
        self.origin = origin
        self.product = product.utf8.count <= Self.maximumProductLength ? ByteKey(product) : ""
        self.storefront = storefront.flatMap(Self.code) ?? ""
    }

    /// A code of three capital letters.
    ///
    /// - Returns: Nil for another text.
    static func code(_ text: String) -> ByteKey? {
        text.utf8.count == 3 && text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
            ? ByteKey(text) : nil
    }
}

/// Sums by what they are of. Sums of zero are left out.
package struct FigureSums: Hashable, Sendable {
    package private(set) var amounts: [FigureKey: Int64] = [:]

    package init() {}

    package mutating func add(_ amount: Int64, to key: FigureKey) {
        let sum = amounts[key, default: 0] &+ amount
        amounts[key] = sum == 0 ? nil : sum
    }

    /// Adds other sums, or subtracts them.
    package mutating func add(_ other: FigureSums, times factor: Int64 = 1) {
        for (key, amount) in other.amounts { add(amount &* factor, to: key) }
    }
}
