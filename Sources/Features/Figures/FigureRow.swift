import Ledger
import Proofs

struct FigureRow: Hashable {
    static let columns = [
        "day", "span", "metric", "breakdown", "app", "origin", "product_id", "storefront", "currency",
    ]

    let day: CalendarDay
    let span: FigureSpan
    let metric: FigureMetric
    let breakdown: FigureBreakdown
    let app: Int64
    let origin: Origin
    let product: ByteKey
    let storefront: ByteKey
    let currency: ByteKey

    init(_ key: FigureKey, _ span: FigureSpan, _ breakdown: FigureBreakdown) {
        day = span.first(key.day)
        self.span = span
        metric = key.metric
        self.breakdown = breakdown
        (app, origin, currency) = (key.subject.app, key.subject.origin, key.currency)
        product = breakdown == .product ? key.subject.product : ""
        storefront = breakdown == .storefront ? key.subject.storefront : ""
    }

    /// The key in the next columns, which are `columns`.
    ///
    /// - Returns: Nil for a row of another version.
    init?(_ row: inout ResultRow) throws {
        day = CalendarDay(daysSince1970: try row.next())
        guard let span = FigureSpan(rawValue: try row.next()), let metric = FigureMetric(rawValue: try row.next()),
            let breakdown = FigureBreakdown(rawValue: try row.next())
        else { return nil }
        (self.span, self.metric, self.breakdown) = (span, metric, breakdown)
        (app, origin) = (try row.next(), try row.next())
        product = ByteKey(try row.next())
        storefront = ByteKey(try row.next())
        currency = ByteKey(try row.next())
    }

    static func all(of key: FigureKey) -> [FigureRow] {
        FigureSpan.allCases.flatMap { span in FigureBreakdown.allCases.map { FigureRow(key, span, $0) } }
    }

    var values: [any SQLConvertible] {
        [
            day.daysSince1970, span.rawValue, metric, breakdown.rawValue, app, origin, product.text, storefront.text,
            currency.text,
        ]
    }
}

/// The order of the key.
extension FigureRow: Comparable {
    static func < (left: FigureRow, right: FigureRow) -> Bool {
        func key(_ row: FigureRow) -> (CalendarDay, Int, String, Int, Int64, String) {
            (row.day, row.span.rawValue, row.metric.rawValue, row.breakdown.rawValue, row.app, row.origin.rawValue)
        }
        let (first, second) = (key(left), key(right))
        return first != second
            ? first < second
            : (left.product, left.storefront, left.currency) < (right.product, right.storefront, right.currency)
    }
}

/// The time span of a row of sums. The raw value is the number in the ledger.
enum FigureSpan: Int, CaseIterable {
    case day = 0
    case month = 1

    func first(_ day: CalendarDay) -> CalendarDay {
        switch self {
        case .day: day
        case .month: day.firstOfMonth
        }
    }
}

extension Table {
    /// The sums. `day`: the day, or the first of the month, in days since 1970; `span`: `FigureSpan`; `breakdown`:
    /// `FigureBreakdown`, which determines whether the product or the storefront is set.
    static let figure = Table(
        name: "figure", family: .globalKey,
        columns: [
            .integer("day"), .integer("span", check: "span IN (0, 1)"), .text("metric"),
            .integer("breakdown", check: "breakdown IN (0, 1, 2)"), .integer("app"), .origin("origin"),
            .text("product_id"), .text("storefront"), .text("currency"), .integer("amount"),
        ],
        key: FigureRow.columns)
}
