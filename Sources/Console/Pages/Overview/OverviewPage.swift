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
                services.entitlements.ledger, environment, andOthers: environment == standardEnvironment,
                shown: try request.query("shown") ?? "")
            return try streams.response(to: request, context, services.team, .view, from: feed) {
                try await $0.events()
            }
        }
    }

    /// The first page: sales, customers and live activity, in one environment.
    private func overview(_ request: Request) async throws -> Page {
        let environment = try environment(request)
        let apps = services.entitlements.apps.all.map(\.bundleIdentifier)
        let named = try request.query("app")
        // The only app whose figures are shown; nil for all apps.
        let app = apps.first { named?.hasSameBytes(as: $0) ?? false }
        // The day is in UTC.
        let start = CalendarDay(services.entitlements.clock.now()).start
        async let counted = services.entitlements.ledger.read {
            try $0.activityCount(from: environment.origins, since: start)
        }
        async let latest = services.entitlements.ledger.read { [isStandard = environment == standardEnvironment] in
            try $0.latestActivity(from: environment.origins, andOthers: isStandard, limit: ActivityFeed.length)
        }
        async let names = services.entitlements.ledger.apiKeyNames()
        var answers: [FigureAnswer]?
        if let figures = services.figures { answers = try await Self.answers(figures, environment, app: app) }
        let (today, activity, keyNames) = try await (counted, latest, names)
        return Page("Overview", section: .overview) {
            Tabs.list("Environment") {
                for choice in FigureQuery.Environment.allCases {
                    Tabs.link(
                        choice.title, to: ConsolePath(query: ["environment": choice.rawValue, "app": app]),
                        isPresent: choice == environment)
                }
            }
            if apps.count > 1 {
                form(.method("get"), .action(ConsolePath()), .class("actions")) {
                    input(.type("hidden"), .name("environment"), .value(environment.rawValue))
                    Field.choice(
                        "app", "Figures of", empty: "(all apps)", apps.map { ($0, Phrase(same: $0)) }, chosen: app)
                    button { "Show" }
                }
            }
            if let answers {
                div(.class("cards")) {
                    for answer in answers { answer.card(app: app) }
                    Self.counts(today, environment)
                }
                answers.first?.pendingNotes
                p { a(.href(.figures(in: environment))) { "All figures" } }
            } else {
                FiguresOff.card
                div(.class("cards")) { Self.counts(today, environment) }
            }
            Self.live(activity, environment, keyNames)
        }
    }

    /// The figures of the overview: 28 days by day.
    private static func answers(
        _ service: FigureService, _ environment: FigureQuery.Environment, app: String?
    ) async throws -> [FigureAnswer] {
        let today = service.today
        let first = today.adding(days: 1 - FigureQuery.standardDays)
        let queries = try figures.map { try FigureQuery($0, in: environment, from: first, to: today, app: app) }
        return try await withThrowingTaskGroup(of: (Int, FigureAnswer).self) { group in
            for (place, query) in queries.enumerated() {
                group.addTask { (place, try await service.answer(query)) }
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
                p(.class("figure")) { plain(Shown.digits(Int64(choice.number)) + (today.isComplete ? "" : "+")) }
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
        try request.chosen("environment") ?? standardEnvironment
    }

    /// The environment of the sales that matter, which also has what the team gives. A service with a local store of another
    /// environment has no production.
    private var standardEnvironment: FigureQuery.Environment {
        services.store.map { $0.environment != .production } ?? false ? .sandbox : .production
    }
}

extension FigureAnswer {
    /// The largest number of currencies in a card.
    private static let maximumCurrencies = 4

    private var figure: Figure { query.figure }

    /// The card of the figure on the overview. It leads to the figure's page.
    func card(app: String?) -> HTML {
        section(.class("card")) {
            h2 { a(.href(.figure(figure, in: query.environment, app: app))) { figure.title } }
            for value in values.prefix(Self.maximumCurrencies) { p(.class("figure")) { value } }
            if values.isEmpty { p(.class("figure")) { Shown.nothing } }
            if values.count > Self.maximumCurrencies {
                note("and \(values.count - Self.maximumCurrencies) more currencies")
            }
            p(.class("note")) {
                if figure.kind == "level" { "now" } else { "the last \(FigureQuery.standardDays) days" }
            }
            if series.count == 1, !figure.isRate, let series = series.first {
                Sparkline(values: series.points.map { Double($0.value) }).html
            }
        }
    }

    /// The value of each currency: at the end of the time, or of all its days.
    private var values: [Phrase] {
        series.compactMap { series in
            if figure.kind == "level" {
                return series.points.last.map { Self.text($0.value, series.currency) }
            }
            let total = FigureText.total(series.points)
            if figure.isRate {
                return FigureText.percent(total.value, of: total.denominator).map { Phrase(same: $0) }
            }
            return Self.text(total.value, series.currency)
        }
    }

    private static func text(_ value: Int64, _ currency: String?) -> Phrase {
        currency.map { Price(milliunits: value, currency: $0).sumPhrase } ?? Phrase(same: Shown.digits(value))
    }
}

/// The live activity as events: each entry that was not among the latest ones before.
///
/// Entries may be recorded some time after they took effect, so the feed compares the latest entries with those before, not
/// their times.
package struct ActivityFeed: Sendable {
    static let length = 50

    private let ledger: Ledger
    private let environment: FigureQuery.Environment
    private let andOthers: Bool
    /// The newest entry that the page shows.
    private let shown: String
    /// The latest entries of the previous reading. Nil before the first.
    private var known: Set<ActivityEntry.ID>?

    /// - Parameter andOthers: True for entries without a purchase, too, such as gifts of the team.
    package init(
        _ ledger: Ledger, _ environment: FigureQuery.Environment, andOthers: Bool = true, shown: String
    ) {
        (self.ledger, self.environment, self.andOthers, self.shown) = (ledger, environment, andOthers, shown)
    }

    /// The events since the last call.
    package mutating func events() async throws -> [LiveEvent] {
        let latest = try await ledger.read { [environment, andOthers] in
            try $0.latestActivity(from: environment.origins, andOthers: andOthers, limit: Self.length)
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
        li(.class(entry.event.mood == .neutral ? "" : entry.event.mood.rawValue)) {
            Shown.badge(entry.event.title, entry.event.mood)
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
        case .appStore: "by the App Store"
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
