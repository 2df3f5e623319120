import Entitlements
import Features
import Proofs
import Testing

/// The rules of periods, queries and calendar days.
@Suite struct FigureRuleTests {
    private static func day(_ text: String) throws -> CalendarDay { try #require(CalendarDay(text)) }

    @Test(arguments: [
        ("2026-10-31", "2026-10-26", "2026-10-01", "2026-11-01"),
        ("2026-12-31", "2026-12-28", "2026-12-01", "2027-01-01"),
        ("1970-01-01", "1969-12-29", "1970-01-01", "1970-02-01"),
        ("2028-02-29", "2028-02-28", "2028-02-01", "2028-03-01"),
    ])
    func `a day knows its week and month`(text: String, week: String, month: String, next: String) throws {
        let day = try Self.day(text)
        #expect(day.description == text)
        #expect(day.firstOfWeek.description == week)
        #expect(day.firstOfMonth.description == month)
        #expect(day.firstOfNextMonth.description == next)
    }

    @Test(arguments: ["", "2026-1-01", "2026-13-01", "2026-02-29", "2026-10-31T00:00:00Z", "20261031  ", "２０２６"])
    func `an invalid text is no day`(text: String) {
        #expect(CalendarDay(text) == nil)
    }

    @Test func `an invalid query is refused`() throws {
        let (first, last) = (try Self.day("2026-01-01"), try Self.day("2026-12-31"))
        #expect(throws: FigureError.timeInvalid) { try FigureQuery(.units, from: last, to: first) }
        #expect(throws: FigureError.tooManyPoints) {
            try FigureQuery(.units, from: try Self.day("1970-01-01"), to: last)
        }
        #expect(throws: FigureError.breakdownUnknown) {
            try FigureQuery(.units, from: first, to: last, group: .product, storefront: "DEU")
        }
        #expect(try FigureQuery(.units, by: .month, from: try Self.day("1970-01-01"), to: last).interval == .month)
        for figure in [Figure.revenuePerPayer, .lifetimeValue, .retention] {
            #expect(throws: FigureError.breakdownUnknown) {
                try FigureQuery(figure, from: first, to: last, product: "p")
            }
        }
        #expect(throws: FigureError.breakdownUnknown) {
            try FigureQuery(.retention, from: first, to: last, group: .app)
        }
        for figure in [Figure.revenuePerPayer, .retention] {
            #expect(try FigureQuery(figure, by: .day, from: first, to: last).interval == .month)
        }
    }

    @Test func `each figure has a definition of its own`() {
        #expect(Set(Figure.allCases.map(\.definition)).count == Figure.allCases.count)
    }

    @Test func `production and sandbox share no origin, and have all`() {
        let (production, sandbox) = (
            FigureQuery.Environment.production.origins(), FigureQuery.Environment.sandbox.origins()
        )
        #expect(production.isDisjoint(with: sandbox))
        #expect(production.union(sandbox) == Set(Origin.allCases))
    }
}
