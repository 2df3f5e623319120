/// The links between the pages of the service's health.
enum HealthTabs: CaseIterable {
    case overview
    case team

    private var title: Phrase {
        switch self {
        case .overview: Phrase("Service", "서비스")
        case .team: Phrase("Actions of the team", "팀의 작업")
        }
    }

    private var path: ConsolePath {
        switch self {
        case .overview: ConsolePath("health")
        case .team: ConsolePath("health", "team")
        }
    }

    /// The links, with this page's as the current one, and a link to the service's OpenAPI document.
    var html: HTML {
        nav(.class("tabs"), .ariaLabel(Phrase("Health", "상태"))) {
            for tab in Self.allCases {
                a(.href(tab.path), tab == self ? HTMLAttribute("aria-current", "page") : nil) { tab.title }
            }
            a(HTMLAttribute("href", "/openapi.json")) { Phrase("OpenAPI document", "OpenAPI 문서") }
        }
    }
}
