import Features

/// The first page: sales, customers and live activity, in one environment.
struct OverviewPage {
    let environment: FigureQuery.Environment
    /// The only app whose figures are shown; nil for all apps.
    let app: String?
    /// The bundle identifiers of the service's apps.
    let apps: [String]
    /// Nil if figures are off.
    let figures: OverviewFigures?
    let today: ActivityCount
    let activity: [ActivityEntry]
    /// The names of the API keys by their identifiers.
    let keyNames: [String: String]

    var page: Page {
        Page(Phrase("Overview", "개요"), section: .overview) {
            environments
            if apps.count > 1 { appChoice }
            if let figures {
                div(.class("cards")) {
                    for answer in figures.answers { FigureCard(answer: answer, app: app).html }
                    counts
                }
                if let answer = figures.answers.first { FigureNotes(answer: answer).pending }
                p {
                    a(.href(ConsolePath("figures", query: ["environment": environment.rawValue]))) {
                        Phrase("All figures", "모든 지표")
                    }
                }
            } else {
                FiguresOff.card
                div(.class("cards")) { counts }
            }
            live
        }
    }

    private var environments: HTML {
        Tabs.list(Phrase("Environment", "환경")) {
            for choice in FigureQuery.Environment.allCases {
                Tabs.link(
                    choice.title, to: ConsolePath(query: ["environment": choice.rawValue, "app": app]),
                    isPresent: choice == environment)
            }
        }
    }

    private var appChoice: HTML {
        form(.method("get"), .action(ConsolePath()), .class("actions")) {
            input(.type("hidden"), .name("environment"), .value(environment.rawValue))
            Field.choice(
                "app", Phrase("Figures of", "지표의 앱"), empty: Phrase("(all apps)", "(모든 앱)"),
                apps.map { ($0, Phrase(same: $0)) }, chosen: app)
            button { Phrase("Show", "보기") }
        }
    }

    /// The redemptions and refusals of today.
    private var counts: HTML {
        HTML {
            count(
                Phrase("Redemptions today", "오늘의 구매 반영"), today[.granted],
                ConsolePath(
                    "figures", Figure.transactions.rawValue, query: ["environment": environment.rawValue]))
            count(Phrase("Refusals today", "오늘의 거절"), today[.refused], ConsoleSection.refusals.path)
        }
    }

    private func count(_ title: Phrase, _ number: Int, _ path: ConsolePath) -> HTML {
        section(.class("card")) {
            h2 { a(.href(path)) { title } }
            p(.class("figure")) { plain(Shown.digits(Int64(number)) + (today.isComplete ? "" : "+")) }
            p(.class("note")) { Phrase("since midnight in UTC, all apps", "UTC 자정 이후, 모든 앱") }
        }
    }

    private var live: HTML {
        let stream = ConsolePath(
            "activity", query: ["environment": environment.rawValue, "shown": ActivityFeed.newest(activity)])
        return section {
            h2(.id("activity-title")) { Phrase("Live activity", "실시간 활동") }
            ol(
                .class("timeline"), .id("activity"), HTMLAttribute("aria-labelledby", "activity-title"),
                HTMLAttribute("data-stream", stream.text)
            ) {
                if activity.isEmpty {
                    li(.class("empty")) { Phrase("Nothing has happened yet.", "아직 활동이 없습니다.") }
                }
                for entry in activity { ActivityRow(activity: entry, keyNames: keyNames).html }
            }
        }
    }
}
