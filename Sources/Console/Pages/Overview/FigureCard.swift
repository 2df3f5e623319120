import Features

/// The card of a figure on the overview. It leads to the figure's page.
struct FigureCard {
    /// The largest number of currencies in a card.
    private static let maximumCurrencies = 4

    let answer: FigureAnswer
    let app: String?

    private var figure: Figure { answer.query.figure }

    var html: HTML {
        section(.class("card")) {
            h2 {
                a(
                    .href(
                        ConsolePath(
                            "figures", figure.rawValue,
                            query: ["environment": answer.query.environment.rawValue, "app": app]))
                ) { figure.title }
            }
            for value in values.prefix(Self.maximumCurrencies) { p(.class("figure")) { plain(value) } }
            if values.isEmpty { p(.class("figure")) { Shown.nothing } }
            if values.count > Self.maximumCurrencies {
                p(.class("note")) {
                    Phrase(
                        "and \(values.count - Self.maximumCurrencies) more currencies",
                        "외 통화 \(values.count - Self.maximumCurrencies)개")
                }
            }
            p(.class("note")) { figure.kind == "level" ? now : lastDays }
            if answer.series.count == 1, !figure.isRate, let series = answer.series.first {
                Sparkline(values: series.points.map { Double($0.value) }).html
            }
        }
    }

    private var now: HTML { HTML { Phrase("now", "현재") } }
    private var lastDays: HTML {
        HTML { Phrase("the last \(FigureQuery.standardDays) days", "최근 \(FigureQuery.standardDays)일") }
    }

    /// The value of each currency: at the end of the time, or of all its days.
    private var values: [String] {
        answer.series.compactMap { series in
            if figure.kind == "level" {
                return series.points.last.map { text($0.value, series.currency) }
            }
            let total = FigureText.total(series.points)
            if figure.isRate { return FigureText.percent(total.value, of: total.denominator) }
            return text(total.value, series.currency)
        }
    }

    private func text(_ value: Int64, _ currency: String?) -> String {
        currency.map { FigureText.wholeMoney(value, $0) } ?? Shown.digits(value)
    }
}
