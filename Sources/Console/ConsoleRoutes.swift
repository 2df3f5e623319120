import Features
import HTTPSupport
import Hummingbird
import Proofs
import ServiceLifecycle

/// The web console of the team, under `/console`.
package struct ConsoleRoutes: RouteSource {
    /// The style sheet, the script and the icons, which are compiled into the binary. Their tags change with it.
    private static let assets: [(name: String, answer: CacheableAnswer)] = [
        ("console.css", CacheableAnswer(PackageResources.console_css, type: "text/css; charset=utf-8")),
        ("console.js", CacheableAnswer(PackageResources.console_js, type: "text/javascript; charset=utf-8")),
        ("icon.svg", CacheableAnswer(PackageResources.icon_svg, type: "image/svg+xml")),
        ("icons.svg", CacheableAnswer(PackageResources.icons_svg, type: "image/svg+xml")),
    ]

    private let services: any ConsoleServices
    private let cookies: ConsoleCookie
    private let attempts: PasswordLimits
    private let passwords = PasswordWork()
    package let streams: LiveStreams
    /// The streams of the local store's pages. Nil without a local store.
    package let storeStreams: LiveStreams?
    private let health: HealthRoutes

    /// - Parameter isSecure: True if browsers reach the service over TLS, directly or through a proxy.
    package init(_ services: any ConsoleServices, isSecure: Bool) {
        self.services = services
        cookies = ConsoleCookie(isSecure: isSecure)
        attempts = PasswordLimits(clock: services.clock)
        streams = LiveStreams()
        streams.wake(after: services.entitlements.ledger)
        storeStreams = services.store.map { store in
            let streams = LiveStreams()
            streams.wake(after: store)
            return streams
        }
        health = HealthRoutes(services: services)
    }

    /// The services that run beside the server and stop before it.
    package var backgroundServices: [any Service] { [streams, storeStreams].compactMap(\.self) }

    package func add(to router: Router<ServiceContext>) {
        let outer = router.group(RouterPath(ConsolePath.root), context: ConsoleContext.self)
            .add(middleware: SecurityHeadersMiddleware())
            .add(middleware: FormQueryMiddleware())
            .add(middleware: LanguageMiddleware())
            .add(middleware: ConsoleErrorMiddleware())
        for (name, answer) in Self.assets {
            outer.get(RouterPath("assets/" + name)) { request, _ in
                answer.response(to: request, headers: [.cacheControl: "no-cache"])
            }
        }
        let group = outer.group()
            .add(
                middleware: SessionMiddleware(
                    team: services.team, sections: services.sections, cookies: cookies, randomness: services.randomness)
            )
            .add(middleware: ConsoleErrorMiddleware())
        AccessRoutes(team: services.team, attempts: attempts, passwords: passwords, cookies: cookies).add(to: group)
        let pages = ConsolePages(group: group)
        AccountRoutes(team: services.team, attempts: attempts, passwords: passwords).add(to: pages)
        addPages(to: pages)
        // A path without a page gets an error page of the console.
        group.get("**") { _, _ -> Response in throw Problem.pageUnknown }
        group.post("**") { _, _ -> Response in throw Problem.pageUnknown }
    }

    /// Adds the pages of each section: one line for each.
    private func addPages(to pages: ConsolePages) {
        OverviewRoutes(services: services, streams: streams).add(to: pages)
        FigureRoutes(services: services).add(to: pages)
        ProductRoutes(services: services).add(to: pages)
        CustomersRoutes(services: services).add(to: pages)
        if let store = services.store, let storeStreams {
            LocalStoreRoutes(services: services, store: store, streams: storeStreams).add(to: pages)
        }
        if let play = services.play { LocalPlayRoutes(services: services, play: play).add(to: pages) }
        TeamRoutes(services: services).add(to: pages)
        health.add(to: pages)
        UnclaimedRoutes(services: services).add(to: pages)
        RefusalsRoutes(services: services).add(to: pages)
        ProofsRoutes(services: services).add(to: pages)
        AppStoreRoutes(services: services).add(to: pages)
        if let webhooks = services.webhooks {
            WebhooksRoutes(services: services, webhooks: webhooks).add(to: pages)
        }
    }
}

extension Problem {
    fileprivate static let pageUnknown = Problem(
        status: .notFound, code: "notFound", detail: "The console has no such page, or what it showed is gone.")
}
