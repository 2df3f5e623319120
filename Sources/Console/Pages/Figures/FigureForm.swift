import Catalog
import Features
import Foundation
import HTTPSupport
import Hummingbird
import Proofs

/// The selection of sales on the page of a figure: the parameters of the address, as they were sent.
struct FigureForm: Sendable {
    /// The largest number of products in a list. A larger catalog has a field.
    private static let maximumProducts = 300

    let names: CatalogNames
    private let request: Request
    private let values: [String: String]

    init(_ request: Request, names: CatalogNames) throws(Problem) {
        var values: [String: String] = [:]
        for name in ["environment", "by", "group", "from", "to", "app", "product", "storefront", "store", "currency"] {
            values[name] = try request.chosen(name)
        }
        (self.request, self.values, self.names) = (request, values, names)
    }

    subscript(name: String) -> String? { values[name] }

    /// - Parameter standard: The environment without a choice.
    func query(
        of figure: Figure, in standard: FigureQuery.Environment, today: CalendarDay
    ) throws -> FigureQuery {
        let last = try day("to") ?? today
        let first = try day("from") ?? (figure.isOfMonths ? FigureRange.year : .days).first(last)
        guard self["currency"]?.utf8.count ?? 3 == 3 else { throw Problem.parameter("currency", "a code such as KRW") }
        return try FigureQuery(
            figure, in: try request.chosen("environment") ?? standard, by: try request.chosen("by") ?? .day,
            from: first, to: last, group: try request.chosen("group"), app: self["app"], product: self["product"],
            storefront: self["storefront"], store: try request.chosen("store"))
    }

    private func day(_ name: String) throws(Problem) -> CalendarDay? {
        guard let text = self[name] else { return nil }
        guard let day = CalendarDay(text) else { throw .parameter(name, "a date such as 2026-10-31") }
        return day
    }

    /// - Parameter query: The query of the page. Nil if the selection makes none; then the form is open.
    func html(of figure: Figure, _ query: FigureQuery?, in standard: FigureQuery.Environment) -> HTML {
        details(.class("action"), query == nil ? .open : nil) {
            summary { "Choose time, groups and filters" }
            form(.method("get"), .action(ConsolePath("figures", figure.rawValue))) {
                div(.class("columns")) {
                    Field.date("from", "First day", value: query?.first.description ?? self["from"] ?? "")
                    Field.date("to", "Last day", value: query?.last.description ?? self["to"] ?? "")
                    choice("by", "Periods", FigureInterval.allCases.map { ($0.rawValue, Phrase(titled: $0)) })
                    choice(
                        "environment", "Environment",
                        FigureQuery.Environment.allCases.map { ($0.rawValue, $0.title) }, standard.rawValue)
                    choice(
                        "group", "A series for each", empty: "(no groups)",
                        FigureQuery.Group.allCases.map { ($0.rawValue, Phrase(titled: $0)) })
                    Field.app(names.catalogs.all.map(\.bundleIdentifier), empty: "(all apps)", chosen: self["app"])
                    if names.productsByName.count > Self.maximumProducts {
                        Field.text("product", "Product", value: self["product"] ?? "")
                    } else {
                        choice("product", "Product", empty: "(all products)", names.productsByName)
                    }
                    choice("storefront", "Storefront", empty: "(all storefronts)", names.storefronts)
                    Field.store(empty: "(all stores)", chosen: self["store"])
                }
                hidden("currency", self["currency"])
                button(.class("primary")) { "Show" }
            }
        }
    }

    /// A list that also has the chosen value, such as a product that is no longer sold.
    private func choice(
        _ name: String, _ title: Phrase, empty: Phrase? = nil, _ options: [(value: String, title: Phrase)],
        _ standard: String? = nil
    ) -> Field<String> {
        let chosen = self[name] ?? standard
        let unknown = chosen.flatMap { chosen in options.contains { $0.value.hasSameBytes(as: chosen) } ? nil : chosen }
        return Field.choice(
            name, title, empty: empty, options + (unknown.map { [($0, Phrase(same: $0))] } ?? []), chosen: chosen)
    }
}

/// The usual times of the figures. The raw value is the word in an address.
enum FigureRange: String, CaseIterable {
    case days = "28-days"
    case month = "this-month"
    case quarter = "90-days"
    case year = "12-months"
    case years = "3-years"

    var title: Phrase {
        switch self {
        case .days: "28 days"
        case .month: "This month"
        case .quarter: "90 days"
        case .year: "12 months"
        case .years: "3 years"
        }
    }

    var interval: FigureInterval { self == .year || self == .years ? .month : .day }

    /// The first day of the time that ends today.
    func first(_ today: CalendarDay) -> CalendarDay {
        switch self {
        case .days: today.adding(days: 1 - FigureQuery.standardDays)
        case .month: today.firstOfMonth
        case .quarter: today.adding(days: -89)
        case .year: today.adding(days: -364)
        case .years: today.adding(days: -1094)
        }
    }
}

extension CatalogNames {
    private static let storefronts = Storefront.all.map { (value: $0.countryCode, title: $0.name) }.sorted {
        $0.title.english < $1.title.english
    }

    /// The products by name, each with its identifier.
    fileprivate var productsByName: [(value: String, title: Phrase)] {
        let all = Set(catalogs.all.flatMap { $0.products.map(\.productIdentifier) })
        return all.map { ($0, "\(product($0)) (\($0))") }.sorted { $0.title.english < $1.title.english }
    }

    fileprivate var storefronts: [(value: String, title: Phrase)] { Self.storefronts }

    func title(of group: String, _ kind: FigureQuery.Group?) -> Phrase {
        switch kind {
        case _ where group.isEmpty: "not stated"
        case .product: product(group)
        case .storefront: Storefront(countryCode: group)?.name ?? Phrase(same: group)
        case .store: PurchaseStore(rawValue: group)?.title ?? Phrase(same: group)
        case .app, .origin, nil: Phrase(same: group)
        }
    }
}

extension Storefront {
    /// The name of the country, with its code.
    var name: Phrase {
        func name(_ language: ConsoleLanguage) -> String {
            let name = Locale(identifier: language.rawValue).localizedString(forRegionCode: shortCountryCode)
            return name.map { "\($0) (\(countryCode))" } ?? countryCode
        }
        return Phrase(english: name(.english), korean: name(.korean))
    }
}
