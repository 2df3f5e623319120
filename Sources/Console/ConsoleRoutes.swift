import Catalog
import Features
import HTTPSupport
import Hummingbird
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
        streams.wake(after: services.ledger)
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
        MemberAccountRoutes(team: services.team, attempts: attempts, passwords: passwords).add(to: pages)
        addPages(to: pages)
        // A path without a page gets an error page of the console.
        group.get("**") { _, _ -> Response in throw Problem.pageUnknown }
        group.post("**") { _, _ -> Response in throw Problem.pageUnknown }
    }

    /// Adds the pages of each section: one line for each.
    private func addPages(to pages: ConsolePages) {
        OverviewRoutes(services: services, streams: streams).add(to: pages)
        FiguresRoutes(services: services).add(to: pages)
        ProductsRoutes(services: services).add(to: pages)
        CustomersRoutes(services: services).add(to: pages)
        StoreActionRoutes(services: services).add(to: pages)
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
        ExternalPurchaseRoutes(services: services).add(to: pages)
        ExternalTransactionRoutes(services: services).add(to: pages)
        if let webhooks = services.webhooks {
            WebhooksRoutes(services: services, webhooks: webhooks).add(to: pages)
        }
    }
}

extension Problem {
    fileprivate static let pageUnknown = Problem(
        status: .notFound, code: "notFound", detail: "The console has no such page, or what it showed is gone.")
}

/// The answer to a request: a page, the page to show next, or a response such as a picture.
protocol ConsoleAnswer: SendableMetatype {
    func answer(_ context: ConsoleContext) -> Response
}

extension Page: ConsoleAnswer {
    func answer(_ context: ConsoleContext) -> Response { response(context) }
}

extension ConsolePath: ConsoleAnswer {
    func answer(_ context: ConsoleContext) -> Response { .seeOther(self) }
}

extension Response: ConsoleAnswer {
    func answer(_ context: ConsoleContext) -> Response { self }
}

/// A group of pages, with the permission that each one needs.
struct ConsolePages {
    let group: RouterGroup<ConsoleContext>

    /// Adds a page, a picture or a file.
    func get<Answer: ConsoleAnswer>(
        _ path: RouterPath, _ permission: TeamPermission = .view,
        _ answer: @Sendable @escaping (Request, ConsoleContext) async throws -> Answer
    ) {
        group.get(path) { request, context -> Response in
            // A person who reads is asked to log in, and then sees the page.
            guard context.member != nil else {
                let next = ConsolePath(request: request.uri.string)?.text
                return .seeOther(ConsolePath("log-in", query: ["next": next == ConsolePath.root ? nil : next]))
            }
            try context.check(permission)
            return try await answer(request, context).answer(context)
        }
    }

    /// Adds the receiver of a form.
    func post<Answer: ConsoleAnswer>(
        _ path: RouterPath, _ permission: TeamPermission,
        _ answer: @Sendable @escaping (Request, ConsoleContext) async throws -> Answer
    ) {
        group.post(path) { request, context in
            try context.check(permission)
            return try await answer(request, context).answer(context)
        }
    }
}

extension ConsoleContext {
    /// Refuses a request without a session, or by a member without the permission.
    func check(_ permission: TeamPermission) throws(Problem) {
        guard let member else {
            throw Problem(
                status: .unauthorized, code: "sessionEnded", detail: "The session has ended. Log in, and try again.")
        }
        guard may(permission) else {
            throw Problem(
                status: .forbidden, code: "permissionMissing",
                detail: "The role \"\(member.role.rawValue)\" may not do this. Ask an administrator of the console.")
        }
    }
}

extension Response {
    /// A text in UTF-8. The browser saves one with the name of a file.
    static func text(
        _ text: String, type: String, file: String? = nil, status: HTTPResponse.Status = .ok
    ) -> Response {
        var headers: HTTPFields = [.contentType: type + "; charset=utf-8"]
        if let file { headers[.contentDisposition] = "attachment; filename=\"\(file)\"" }
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// Sends the browser to another page after a form (RFC 9110 section 15.4.4).
    static func seeOther(_ path: ConsolePath) -> Response {
        Response(status: .seeOther, headers: [.location: path.text])
    }
}

extension Picture {
    /// The picture as a response of the console, which an opened SVG cannot use: an uploaded one may have scripts.
    func response(to request: Request) -> Response {
        CacheableAnswer(bytes, type: format.mediaType).response(
            to: request,
            headers: [
                .cacheControl: "private, no-cache",
                .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'; sandbox",
            ])
    }
}
