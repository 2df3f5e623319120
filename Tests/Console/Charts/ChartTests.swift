import Console
import Foundation
import Testing

/// The drawings of charts.
@Suite struct ChartTests {
    private func points(_ values: [Double?]) -> [Chart.Point] {
        values.map { ($0, Phrase(same: $0.map { "=\($0)" } ?? "–")) }
    }

    private func chart(
        _ kind: Chart.Kind, _ series: [(String, [Double?])], unit: ChartUnit = .count, incomplete: Int? = nil
    ) -> Chart {
        let count = series.first?.1.count ?? 0
        return Chart(
            "Sales", kind, unit: unit,
            periods: (0..<count).map {
                (Phrase(english: "Day \($0)", korean: "\($0)일"), "2026-10-\($0)", $0 != incomplete)
            }, series: series.map { (Phrase(same: $0), points($1)) })
    }

    private func drawing(_ chart: Chart, _ language: ConsoleLanguage = .english) throws -> String {
        let text = chart.html(identifier: "chart").render(language)
        // A browser can place these numbers.
        #expect(!text.contains("nan") && !text.contains("inf"))
        return text
    }

    private func count(_ text: String, _ part: String) -> Int { text.components(separatedBy: part).count - 1 }

    /// The heights of the bars with a colour, in the order of the drawing.
    private func bars(_ text: String, _ color: Int) -> [(y: Double, height: Double)] {
        text.matches(of: /y="([-0-9.]+)" width="[-0-9.]+" height="([-0-9.]+)" class="fill-([0-9])/)
            .filter { $0.3 == "\(color)" }.map { (Double($0.1) ?? .nan, Double($0.2) ?? .nan) }
    }

    @Test(arguments: [Chart.Kind.lines, .areas, .bars])
    func `a chart without periods or without series has axes alone`(kind: Chart.Kind) throws {
        for text in [try drawing(chart(kind, [])), try drawing(chart(kind, [("A", [])]))] {
            #expect(text.contains("<title id=\"chart\">Sales</title>"))
            #expect(text.contains("aria-labelledby=\"chart\""))
            #expect(text.contains("class=\"axis\""))
        }
    }

    @Test(arguments: [Chart.Kind.lines, .areas, .bars])
    func `a single point is visible`(kind: Chart.Kind) throws {
        let text = try drawing(chart(kind, [("A", [5])]))
        switch kind {
        case .bars: #expect(bars(text, 1).contains { $0.height > 100 })
        case .lines, .areas:
            let line = try #require(text.firstMatch(of: /d="M(?<from>[0-9.]+) [0-9.]+ L(?<to>[0-9.]+)/))
            #expect(line.from != line.to)
        }
        #expect(text.contains("<title>2026-10-0\n=5.0</title>"))
    }

    @Test func `negative parts are below zero, and positive parts above`() throws {
        let text = try drawing(chart(.bars, [("new", [30]), ("changed", [10]), ("churned", [-20])]))
        let zero = try #require(text.firstMatch(of: /y1="([0-9.]+)"[^>]*class="axis"/).flatMap { Double($0.1) })
        let (new, changed, churned) = (bars(text, 1)[0], bars(text, 2)[0], bars(text, 3)[0])
        #expect(abs(new.y + new.height - zero) < 0.2)
        #expect(abs(changed.y + changed.height - new.y) < 0.2)
        #expect(abs(churned.y - zero) < 0.2)
        #expect(abs(new.height - 1.5 * churned.height) < 0.3)
        #expect(text.contains(">-20</text>"))
    }

    @Test func `areas are stacked`() throws {
        let text = try drawing(chart(.areas, [("A", [10, 10]), ("B", [30, 30])]))
        #expect(count(text, "class=\"area fill-") == 2)
        // The scale covers the sum.
        #expect(text.contains(">40</text>"))
    }

    @Test func `a line has a gap where a value is missing`() throws {
        let text = try drawing(chart(.lines, [("A", [1, nil, 3, 4])], unit: .percent))
        #expect(count(text, "class=\"line stroke-1\"") == 2)
        #expect(text.contains("2026-10-1\n–"))
    }

    @Test func `the period that is not over is shaded`() throws {
        let text = try drawing(chart(.bars, [("A", [1, 2])], incomplete: 1))
        #expect(count(text, "class=\"shade\"") == 1)
        #expect(count(text, "fill-1 incomplete") == 1)
        #expect(try !drawing(chart(.bars, [("A", [1, 2])])).contains("shade"))
    }

    @Test func `lines over the series have their own style, and are in the legend and the table`() throws {
        let chart = Chart(
            "Sales", .bars, unit: .count, periods: [("Day", "2026-10-01", true), ("Day", "2026-10-02", true)],
            series: [("A", points([1, 2]))], lines: [("before", points([40, nil]))])
        let text = try drawing(chart)
        #expect(count(text, "class=\"line other\"") == 1 && count(text, "<li>") == 2)
        // The scale covers the line.
        #expect(text.contains(">40</text>") && text.contains("before: =40.0"))
        #expect(chart.table.render(.english).contains("<td class=\"number\">=40.0</td>"))
    }

    @Test func `large amounts are drawn within the chart`() throws {
        let text = try drawing(chart(.bars, [("A", [Double(Int64.max)]), ("B", [Double(Int64.min)])], unit: .money))
        for bar in bars(text, 1) + bars(text, 2) { #expect(bar.y >= 0 && bar.y + bar.height <= 300) }
    }

    @Test func `a long time has few labels, and each period has its values`() throws {
        let text = try drawing(chart(.lines, [("A", (0..<365).map { Double($0) })]))
        #expect(count(text, "text-anchor=\"middle\"") <= 8)
        #expect(count(text, "class=\"slot\"") == 365)
    }

    @Test func `names from outside are text, and the legend has each series`() throws {
        let text = try drawing(chart(.bars, [("<script>\"&'", [1]), ("B", [2])]))
        #expect(!text.contains("<script>"))
        #expect(text.contains("<bdi>&lt;script&gt;&quot;&amp;&#39;</bdi>"))
        #expect(count(text, "<li>") == 2)
        #expect(try !drawing(chart(.bars, [("A", [1])])).contains("legend"))
    }

    @Test func `the table has each value, newest first`() throws {
        let text = chart(.bars, [("A", [1, 2]), ("B", [nil, 4])], incomplete: 1).table.render(.korean)
        #expect(text.contains("<caption class=\"hidden\">판매</caption>"))
        #expect(text.contains("진행 중"))
        let rows = text.components(separatedBy: "<tr>")
        #expect(rows[2].contains("2026-10-1") && rows[2].contains("=2.0") && rows[2].contains("=4.0"))
        #expect(rows[3].contains("2026-10-0") && rows[3].contains("=1.0") && rows[3].contains("–"))
    }

    @Test func `a share is in percent, and a share of nothing is none`() {
        #expect(FigureText.percent(1, of: 8) == "12.5%")
        #expect(FigureText.percent(-1, of: 8) == "-12.5%")
        #expect(FigureText.percent(2, of: 3) == "66.7%")
        #expect(FigureText.percent(1, of: 0) == nil)
    }
}
