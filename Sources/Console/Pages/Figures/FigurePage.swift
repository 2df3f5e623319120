import Features
import Proofs

/// The page of a figure: its definition, the selection of sales, a chart and a table for each currency, and notes.
struct FigurePage {
    private static let maximumCharts = 8
    /// The largest number of values in the charts of a page with several charts.
    private static let maximumPoints = 4_000

    let answer: FigureAnswer
    let selection: FigureSelection
    /// The bundle identifiers of the service's apps.
    let apps: [String]
    let today: CalendarDay

    private var figure: Figure { answer.query.figure }

    var page: Page {
        Page(figure.title, section: .overview) {
            p { figure.explanation }
            periods
            filters
            FigureNotes(answer: answer).html
            let charts = FigureChart.charts(of: answer)
            let shown = self.shown(of: charts)
            if shown.count < charts.count { currencies(of: charts) }
            if shown.isEmpty {
                p(.class("empty")) {
                    if let currency = selection.currency, !charts.isEmpty {
                        Phrase(
                            "Nothing was sold in \(currency) in this time.", "이 기간에는 \(currency) 판매가 없습니다.")
                    } else {
                        Phrase("Nothing was sold in this time.", "이 기간에는 판매가 없습니다.")
                    }
                }
            }
            for (number, figureChart) in shown.enumerated() {
                let chart = figureChart.chart
                section(.class("card")) {
                    if let currency = figureChart.currency { h2 { Phrase(same: currency) } }
                    chart.html(identifier: "chart-\(number)")
                    if figureChart.otherCount > 0 {
                        p(.class("note")) {
                            Phrase(
                                "The largest groups have their own colours. The CSV file has all groups.",
                                "큰 그룹만 따로 표시합니다. CSV 파일에는 모든 그룹이 있습니다.")
                        }
                    }
                }
                chart.table
            }
            p(.class("actions")) {
                a(.class("button"), .href(selected(nil).path(figure, "csv"))) {
                    Phrase("Download as CSV", "CSV 내려받기")
                }
                a(
                    .class("button"),
                    .href(ConsolePath("figures", query: ["environment": selection.environment.rawValue]))
                ) { Phrase("All figures", "모든 지표") }
            }
        }
    }

    /// The charts of the page: that of the selected currency, or the first ones.
    private func shown(of charts: [FigureChart]) -> [FigureChart] {
        if figure.isMoney, let currency = selection.currency { return charts.filter { $0.currency == currency } }
        var points = 0
        return charts.prefix(Self.maximumCharts).enumerated().prefix { number, chart in
            points += chart.pointCount
            return number == 0 || points <= Self.maximumPoints
        }.map(\.element)
    }

    /// Links to the currencies, of which the page does not show all.
    private func currencies(of charts: [FigureChart]) -> HTML {
        Tabs.list(Phrase("Currency", "통화")) {
            for currency in [nil] + charts.compactMap(\.currency) {
                Tabs.link(
                    currency.map { Phrase(same: $0) } ?? Phrase("The first charts", "앞의 차트"),
                    to: selected(currency).path(figure), isPresent: currency == selection.currency)
            }
        }
    }

    private func selected(_ currency: String?) -> FigureSelection {
        var chosen = selection
        chosen.currency = currency
        return chosen
    }

    /// Links to usual times.
    private var periods: HTML {
        let choices: [(title: Phrase, days: Int64, interval: FigureInterval)] = [
            (Phrase("28 days", "28일"), 28, .day), (Phrase("90 days", "90일"), 90, .day),
            (Phrase("12 months", "12개월"), 365, .month), (Phrase("3 years", "3년"), 1095, .month),
        ]
        return Tabs.list(Phrase("Time", "기간")) {
            for choice in choices {
                let path = selected(choice.days, choice.interval).path(figure)
                Tabs.link(choice.title, to: path, isPresent: path == selection.path(figure))
            }
        }
    }

    private func selected(_ days: Int64, _ interval: FigureInterval) -> FigureSelection {
        var chosen = selection
        (chosen.last, chosen.first, chosen.interval) = (today, today.adding(days: 1 - days), interval)
        return chosen
    }

    private var filters: HTML {
        details(.class("action")) {
            summary { Phrase("Choose time, groups and filters", "기간, 그룹, 필터 선택") }
            form(.method("get"), .action(ConsolePath("figures", figure.rawValue))) {
                div(.class("columns")) {
                    Field.date("from", Phrase("First day", "첫날"), value: selection.first.description)
                    Field.date("to", Phrase("Last day", "마지막 날"), value: selection.last.description)
                    Field.choice(
                        "by", Phrase("Periods", "단위"),
                        FigureInterval.allCases.map { ($0.rawValue, $0.title) }, chosen: selection.interval.rawValue)
                    Field.choice(
                        "environment", Phrase("Environment", "환경"),
                        FigureQuery.Environment.allCases.map { ($0.rawValue, $0.title) },
                        chosen: selection.environment.rawValue)
                    Field.choice(
                        "group", Phrase("A series for each", "그룹"), empty: Phrase("(no groups)", "(그룹 없음)"),
                        FigureQuery.Group.allCases.map { ($0.rawValue, $0.title) }, chosen: selection.group?.rawValue)
                    if apps.count > 1 {
                        Field.choice(
                            "app", Phrase("App", "앱"), empty: Phrase("(all apps)", "(모든 앱)"),
                            apps.map { ($0, Phrase(same: $0)) }, chosen: selection.app)
                    }
                    Field.text(
                        "product", Phrase("Only this product", "이 상품만"), value: selection.product ?? "")
                    Field.text(
                        "storefront", Phrase("Only this storefront, such as KOR", "이 스토어프런트만 (예: KOR)"),
                        value: selection.storefront ?? "", maximumLength: 3)
                }
                if let currency = selection.currency {
                    input(.type("hidden"), .name("currency"), .value(currency))
                }
                button(.class("primary")) { Phrase("Show", "보기") }
            }
        }
    }
}
