import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The part of a timeline that a page shows: all of it, a month, a kind of entries.
struct TimelineFilter {
    /// The part. Its bounds are those of the month in the time zone of the browser, and without the script in UTC.
    let part: StoryPart
    /// The first day of the month; nil for all months.
    private let month: CalendarDay?

    /// - Throws: `Problem`, `parameterInvalid`.
    init(_ request: Request) throws {
        func moment(_ name: String) throws -> Timestamp? {
            try request.query(name).flatMap { Int64($0) }.map { Timestamp(millisecondsSince1970: $0) }
        }
        month = try request.queriedMonth("month")
        part = StoryPart(
            month: month, from: try moment("from"), until: try moment("until"), kind: try request.query("kind"))
    }

    private static func text(_ month: CalendarDay) -> String { String(month.description.prefix(7)) }

    /// The next page of the part.
    func path(of user: User, after cursor: String) -> ConsolePath { path(of: user, after: cursor, month, part.kind) }

    private func path(
        of user: User, after cursor: String? = nil, _ month: CalendarDay?, _ kind: StoryPart.Kind?
    ) -> ConsolePath {
        func bound(_ moment: Timestamp?) -> String? {
            month == self.month ? moment.map { String($0.millisecondsSince1970) } : nil
        }
        return .customer(
            user, "timeline",
            query: [
                "cursor": cursor, "month": month.map(Self.text), "kind": kind?.rawValue,
                "from": bound(part.from), "until": bound(part.until),
            ])
    }

    /// Links to the other parts: the twelve months up to now, or up to an earlier one, and the kinds.
    @HTMLBuilder func links(of user: User, at now: Timestamp) -> HTML {
        let months = months(at: now)
        Tabs.list("Months") {
            Tabs.link("All", to: path(of: user, nil, part.kind), isPresent: month == nil)
            for each in months {
                a(
                    .href(path(of: user, each, part.kind)), HTMLAttribute("data-month", Self.text(each)),
                    each == month ? HTMLAttribute("aria-current", "page") : nil
                ) { CustomerWords.month(each) }
            }
            Tabs.link(
                "Earlier", to: path(of: user, months[11].adding(days: -1).firstOfMonth, part.kind), isPresent: false)
        }
        Tabs.choices("Kinds", [nil] + StoryPart.Kind.allCases, present: part.kind) {
            $0.map { Phrase(titled: $0) } ?? "All"
        } path: {
            path(of: user, month, $0)
        }
    }

    /// Twelve months, newest first.
    private func months(at now: Timestamp) -> [CalendarDay] {
        func months(before last: CalendarDay) -> [CalendarDay] {
            (1..<12).reduce(into: [last]) { months, _ in
                months += [months[months.count - 1].adding(days: -1).firstOfMonth]
            }
        }
        // The month begins fourteen hours earlier in the time zone furthest ahead.
        let latest = months(before: CalendarDay(now.adding(seconds: 14 * 3600)).firstOfMonth)
        return month.map { $0 < latest[11] ? months(before: $0) : latest } ?? latest
    }
}
