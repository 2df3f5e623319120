import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The part of the sales that a page of a figure shows, as the parameters of its address.
struct FigureSelection {
    /// The largest number of periods of a chart and its table.
    static let maximumPeriods = 400

    var environment = FigureQuery.Environment.production
    var interval = FigureInterval.day
    var group: FigureQuery.Group?
    var first: CalendarDay
    var last: CalendarDay
    var app: String?
    var product: String?
    var storefront: String?
    /// The only currency with a chart; nil for all. The figures are the same.
    var currency: String?

    /// - Parameter today: The last day without a parameter.
    /// - Throws: `Problem`, `parameterInvalid`.
    init(_ request: Request, today: CalendarDay) throws(Problem) {
        environment = try Self.word("environment", of: request) ?? .production
        interval = try Self.word("by", of: request) ?? .day
        group = try Self.word("group", of: request)
        last = try Self.day("to", of: request) ?? today
        first = try Self.day("from", of: request) ?? last.adding(days: 1 - FigureQuery.standardDays)
        app = try Self.text("app", of: request)
        product = try Self.text("product", of: request)
        storefront = try Self.text("storefront", of: request)
        currency = try Self.text("currency", of: request)
        guard currency?.utf8.count ?? 3 == 3 else { throw .parameter("currency", "a code such as KRW") }
    }

    /// - Throws: `FigureError`.
    func query(_ figure: Figure) throws(FigureError) -> FigureQuery {
        try FigureQuery(
            figure, in: environment, by: interval, from: first, to: last, group: group, app: app, product: product,
            storefront: storefront)
    }

    /// The path of a figure's page, or of a part below it, with this selection.
    func path(_ figure: Figure, _ parts: String...) -> ConsolePath {
        ConsolePath(
            ["figures", figure.rawValue] + parts,
            query: [
                ("environment", environment.rawValue), ("by", interval.rawValue), ("group", group?.rawValue),
                ("from", first.description), ("to", last.description), ("app", app), ("product", product),
                ("storefront", storefront), ("currency", currency),
            ])
    }

    /// A form sends empty parameters for what it leaves open.
    private static func text(_ name: String, of request: Request) throws(Problem) -> String? {
        let text = try request.query(name)
        return text?.isEmpty == true ? nil : text
    }

    private static func day(_ name: String, of request: Request) throws(Problem) -> CalendarDay? {
        guard let text = try text(name, of: request) else { return nil }
        guard let day = CalendarDay(text) else { throw .parameter(name, "a date such as 2026-10-31") }
        return day
    }

    static func word<Word: CaseIterable & RawRepresentable<String>>(
        _ name: String,
        of request: Request
    ) throws(Problem) -> Word? {
        guard let text = try text(name, of: request) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw .parameter(name, "one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return word
    }
}
