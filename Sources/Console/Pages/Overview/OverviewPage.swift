import Catalog
import Entitlements
import Features
import HTTPSupport
import Hummingbird
import Ledger
import Proofs

/// The first page, and its live activity.
struct OverviewRoutes: Sendable {
    /// The figures of the cards, in order.
    private static let figures: [Figure] = [
        .revenue, .monthlyRevenue, .activeSubscriptions, .activeTrials, .newCustomers, .refundRate,
    ]

    let services: any ConsoleServices
    let streams: LiveStreams

    func add(to pages: ConsolePages) {
        pages.get("") { request, _ in try await overview(request) }
        pages.get("activity") { request, context in
            let environment = try environment(request)
            let feed = ActivityFeed(
                services.ledger, environment.origins(services.entitlements.accepted.all),
                andOthers: environment == services.standardEnvironment,
                shown: try request.query("shown") ?? "")
            return try streams.response(to: request, context, services.team, .view, from: feed) {
                try await $0.events()
            }
        }
    }

    /// The first page: sales, customers and live activity, in one environment.
    private func overview(_ request: Request) async throws -> Page {
        let environment = try environment(request)
        let apps = services.appNames
        let named = try request.query("app")
        // The only app whose figures are shown; nil for all apps.
        let app = apps.first { named?.hasSameBytes(as: $0) ?? false }
        let origins = environment.origins(services.entitlements.accepted.all)
        // The day is in UTC.
        let start = CalendarDay(services.entitlements.clock.now()).start
        async let counted = services.ledger.read {
            try $0.activityCount(from: origins, since: start)
        }
        async let latest = services.ledger.read {
            [isStandard = environment == services.standardEnvironment] in
            try $0.latestActivity(from: origins, andOthers: isStandard, limit: ActivityFeed.length)
        }
        async let names = services.ledger.apiKeyNames()
        let range: FigureRange = try request.chosen("range") ?? .days
        var comparisons: [FigureComparison]?
        if let figures = services.figures {
            comparisons = try await Self.comparisons(figures, environment, range, app: app)
        }
        let (today, activity, keyNames) = try await (counted, latest, names)
        return Page("Overview", section: .overview) {
            Tabs.choices("Environment", FigureQuery.Environment.allCases, present: environment, title: \.title) {
                Self.path($0, range, app: app)
            }
            if comparisons != nil {
                let ranges = FigureRange.allCases.filter { $0.interval == .day }
                Tabs.choices(Phrase("Time", context: "range"), ranges, present: range, title: \.title) {
                    Self.path(environment, $0, app: app)
                }
            }
            if apps.count > 1 {
                filters(ConsolePath()) {
                    hidden("environment", environment.rawValue)
                    hidden("range", range.rawValue)
                    Field.choice(
                        "app", "Figures of", empty: "(all apps)", apps.map { ($0, Phrase(same: $0)) }, chosen: app)
                }
            }
            if let comparisons {
                // The figures are of the same days.
                (comparisons.first(where: \.hasChange) ?? comparisons.first)?.times
                div(.class("cards")) {
                    for comparison in comparisons {
                        comparison.card(range, app: app, services.entitlements.catalogs.exchangeRates)
                    }
                    Self.counts(today, environment)
                }
                comparisons.first?.answer.pendingNotes
                p { a(.href(.figures(in: environment))) { "All figures" } }
            } else {
                FiguresOff.card
                div(.class("cards")) { Self.counts(today, environment) }
            }
            Self.live(activity, environment, keyNames)
        }
    }

    /// The path of the overview of other sales, or of another time.
    private static func path(
        _ environment: FigureQuery.Environment, _ range: FigureRange, app: String?
    ) -> ConsolePath {
        ConsolePath(query: ["environment": environment.rawValue, "range": range.rawValue, "app": app])
    }

    /// The figures of the overview, by the periods of a time.
    private static func comparisons(
        _ service: FigureService, _ environment: FigureQuery.Environment, _ range: FigureRange, app: String?
    ) async throws -> [FigureComparison] {
        let today = service.today
        let queries = try figures.map {
            try FigureQuery(
                $0, in: environment, by: range.interval, from: range.first(today), to: today, app: app)
        }
        return try await withThrowingTaskGroup(of: (Int, FigureComparison).self) { group in
            for (place, query) in queries.enumerated() {
                group.addTask { (place, try await service.comparison(query)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// The redemptions and refusals of today.
    @HTMLBuilder private static func counts(_ today: ActivityCount, _ environment: FigureQuery.Environment) -> HTML {
        let choices: [(title: Phrase, number: Int, path: ConsolePath)] = [
            ("Redemptions today", today[.granted], .figure(.transactions, in: environment)),
            ("Refusals today", today[.refused], ConsoleSection.refusals.path),
        ]
        for choice in choices {
            section(.class("card")) {
                h2 { a(.href(choice.path)) { choice.title } }
                p(.class("figure")) { plain(Shown.digits(choice.number) + (today.isComplete ? "" : "+")) }
                note("since midnight in UTC, all apps")
            }
        }
    }

    private static func live(
        _ activity: [ActivityEntry], _ environment: FigureQuery.Environment, _ keyNames: [String: String]
    ) -> HTML {
        let stream = ConsolePath(
            "activity", query: ["environment": environment.rawValue, "shown": ActivityFeed.newest(activity)])
        return section {
            h2(.id("activity-title")) { "Live activity" }
            ol(
                .class("timeline"), .id("activity"), HTMLAttribute("aria-labelledby", "activity-title"),
                HTMLAttribute("data-stream", stream.text)
            ) {
                if activity.isEmpty { li(.class("empty")) { "Nothing has happened yet." } }
                for entry in activity { entry.row(keyNames) }
            }
        }
    }

    /// The environment that the person chose.
    private func environment(_ request: Request) throws(Problem) -> FigureQuery.Environment {
        try request.chosen("environment") ?? services.standardEnvironment
    }
}

extension FigureComparison {
    /// The largest number of currencies in a card.
    private static let maximumCurrencies = 4

    /// The card of the figure on the overview. It leads to the figure's page.
    func card(_ range: FigureRange, app: String?, _ rates: ExchangeRates?) -> HTML {
        let query = answer.query
        let path =
            range == .days
            ? .figure(query.figure, in: query.environment, app: app) : query.path(currency: nil)
        let complete = answer.periods.filter(\.isComplete).count
        return section(.class("card")) {
            h2 { a(.href(path)) { query.figure.title } }
            for total in totals.prefix(Self.maximumCurrencies) { lead(total) }
            if totals.isEmpty { p(.class("figure")) { Shown.nothing } }
            if totals.count > Self.maximumCurrencies {
                note("and \(totals.count - Self.maximumCurrencies) more currencies")
            }
            sum(at: rates)
            if !query.figure.isRate, let total = totals.first {
                // A trend has no day that is not over.
                Sparkline(
                    values: total.points.prefix(complete).map { Double($0.value) },
                    earlier: total.earlier.prefix(complete).compactMap { $0.map { Double($0.value) } }
                ).html
            }
        }
    }
}

/// The live activity as events: each entry that was not among the latest ones before.
///
/// Entries may be recorded some time after they took effect, so the feed compares the latest entries with those before, not
/// their times.
package struct ActivityFeed: Sendable {
    static let length = 50

    private let ledger: Ledger
    private let origins: Set<Origin>
    private let andOthers: Bool
    /// The newest entry that the page shows.
    private let shown: String
    /// The latest entries of the previous reading. Nil before the first.
    private var known: Set<ActivityEntry.ID>?

    /// - Parameter andOthers: True for entries without a purchase, too, such as gifts of the team.
    package init(_ ledger: Ledger, _ origins: Set<Origin>, andOthers: Bool = true, shown: String) {
        (self.ledger, self.origins, self.andOthers, self.shown) = (ledger, origins, andOthers, shown)
    }

    /// The events since the last call.
    package mutating func events() async throws -> [LiveEvent] {
        let latest = try await ledger.read { [origins, andOthers] in
            try $0.latestActivity(from: origins, andOthers: andOthers, limit: Self.length)
        }
        defer { known = Set(latest.map(\.id)) }
        guard let known else {
            // The page is older than the stream, after a reconnection by a quarter of an hour.
            return Self.newest(latest) == shown ? [] : [.change]
        }
        let new = latest.filter { !known.contains($0.id) }
        let names = new.contains { $0.entry.actor.keyIdentifier != nil } ? try await ledger.apiKeyNames() : [:]
        return new.reversed().map { .row($0.row(names)) }
    }

    /// The text that identifies the newest of some entries; empty without one.
    package static func newest(_ entries: [ActivityEntry]) -> String { entries.first?.id.description ?? "" }
}

extension ActivityEntry {
    /// The entry in the live activity.
    ///
    /// - Parameter keyNames: The names of the API keys by their identifiers.
    fileprivate func row(_ keyNames: [String: String]) -> HTML {
        li(.class(entry.event.rule.mood == .neutral ? "" : entry.event.rule.mood.rawValue)) {
            Shown.badge(entry.event.title, entry.event.rule.mood)
            if !entry.subject.isEmpty, entry.event != .erased { also(Shown.identifier(entry.subject)) }
            also(user.map { Shown.link(to: $0) } ?? HTML { "(erased customer)" })
            div(.class("note")) {
                spaced(by: " · ", Shown.moment(entry.happenedAt), actor(keyNames))
                if let origin = entry.origin {
                    plain(" · ")
                    plain(origin.rawValue)
                }
                if let reason = entry.reason { also(data(reason), by: " · ") }
            }
        }
    }

    @HTMLBuilder private func actor(_ keyNames: [String: String]) -> HTML {
        switch entry.actor {
        case .user: "by the customer"
        case .store(let store): "by \(store.phraseInSentence)"
        case .till: "by Till"
        case .member(let name): Self.byline(name)
        case .apiKey(let identifier): Self.byline(keyNames[identifier] ?? identifier)
        }
    }

    @HTMLBuilder private static func byline(_ name: String) -> HTML {
        "by "
        data(name)
    }
}
