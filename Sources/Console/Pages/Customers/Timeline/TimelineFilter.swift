import Features
import HTTPSupport
import Hummingbird
import Ledger
import Proofs

/// The part of a timeline that a page shows: all of it, a month, a kind of entries.
struct TimelineFilter {
    private enum Kind: String, CaseIterable {
        case purchases, renewals, refunds, refusals, team, notifications

        var title: Phrase {
            switch self {
            case .purchases: "Purchases"
            case .renewals: "Renewals and ends"
            case .refunds: "Refunds and revocations"
            case .refusals: "Refusals"
            case .team: "By the team"
            case .notifications: "Notifications"
            }
        }
    }

    /// The first day of the month; nil for all months.
    private let month: CalendarDay?
    /// The month in the time zone of the browser. Without the script, it is that of UTC.
    private let bounds: (from: Timestamp, until: Timestamp)?
    private let kind: Kind?

    /// - Throws: `Problem`, `parameterInvalid`.
    init(_ request: Request) throws {
        func moment(_ name: String) throws -> Timestamp? {
            try request.query(name).flatMap { Int64($0) }.map { Timestamp(millisecondsSince1970: $0) }
        }
        month = try request.query("month").map { text in
            guard let day = CalendarDay(text + "-01"), day.daysSince1970 > 365 else {
                throw Problem.parameter("month", "a month such as 2027-03")
            }
            return day
        }
        let (from, until) = (try moment("from"), try moment("until"))
        bounds = month.map { (from ?? $0.start, until ?? $0.firstOfNextMonth.start) }
        kind = try request.query("kind")
    }

    /// The position after which the part begins; nil for the newest entry.
    var start: StoryEntry.Position? { bounds.map { StoryEntry.position(before: $0.until) } }

    /// True if an entry is not older than the part.
    func reaches(_ entry: StoryEntry) -> Bool {
        bounds.map { entry.happenedAt >= $0.from } ?? true
    }

    func includes(_ entry: StoryEntry) -> Bool {
        guard let kind else { return true }
        guard case .event(let event, _, _) = entry.content else { return kind == .notifications }
        switch kind {
        case .purchases: return [.granted, .productChanged, .transferredIn, .transferredOut].contains(event.event)
        case .renewals:
            return [.expired, .renewalFailed, .gracePeriodBegan, .autoRenewDisabled, .autoRenewEnabled]
                .contains(event.event)
        case .refunds: return [.revoked, .refundAnswered].contains(event.event)
        case .refusals: return event.event == .refused
        case .team:
            switch event.actor {
            case .member, .apiKey: return event.event != .refused
            case .user, .appStore, .till: return false
            }
        case .notifications: return false
        }
    }

    /// The page of a further part: after a cursor, of a month or of a kind.
    func path(of user: User, after cursor: String) -> ConsolePath { path(of: user, after: cursor, month, kind) }

    private func path(of user: User, after cursor: String? = nil, _ month: CalendarDay?, _ kind: Kind?) -> ConsolePath {
        let bounds = month == self.month ? bounds : nil
        return .customer(
            user, "timeline",
            query: [
                "cursor": cursor, "month": month.map { String("\($0)".prefix(7)) }, "kind": kind?.rawValue,
                "from": bounds.map { String($0.from.millisecondsSince1970) },
                "until": bounds.map { String($0.until.millisecondsSince1970) },
            ])
    }

    /// Links to the other parts: the twelve months up to now, or up to an earlier one, and the kinds.
    @HTMLBuilder func links(of user: User, at now: Timestamp) -> HTML {
        let months = months(at: now)
        Tabs.list("Months") {
            Tabs.link("All", to: path(of: user, nil, kind), isPresent: month == nil)
            for each in months {
                a(
                    .href(path(of: user, each, kind)), HTMLAttribute("data-month", String("\(each)".prefix(7))),
                    each == month ? HTMLAttribute("aria-current", "page") : nil
                ) { CustomerWords.month(each) }
            }
            if let last = months.last {
                Tabs.link("Earlier", to: path(of: user, last.adding(days: -1).firstOfMonth, kind), isPresent: false)
            }
        }
        Tabs.list("Kinds") {
            Tabs.link("All", to: path(of: user, month, nil), isPresent: kind == nil)
            for each in Kind.allCases {
                Tabs.link(each.title, to: path(of: user, month, each), isPresent: each == kind)
            }
        }
    }

    private func months(at now: Timestamp) -> [CalendarDay] {
        func months(before last: CalendarDay) -> [CalendarDay] {
            (1..<12).reduce(into: [last]) { months, _ in
                months.append(months[months.count - 1].adding(days: -1).firstOfMonth)
            }
        }
        let latest = months(before: CalendarDay(now).firstOfMonth)
        return month.map { $0 < latest[11] ? months(before: $0) : latest } ?? latest
    }
}
