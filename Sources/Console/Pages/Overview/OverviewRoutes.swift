import Features
import HTTPSupport
import Hummingbird

/// The first page, and its live activity.
struct OverviewRoutes: Sendable {
    let services: ConsoleServices
    let streams: LiveStreams

    func add(to pages: ConsolePages) {
        pages.get("") { request, _ in try await overview(request) }
        pages.answer("activity") { request, context in
            let feed = ActivityFeed(
                services.entitlements, try environment(request), shown: try request.query("shown") ?? "")
            return try LiveResponse(streams: streams, team: services.team, context: context, permission: .view)
                .response(to: request) { try await feed.events() }
        }
    }

    private func overview(_ request: Request) async throws -> Page {
        let environment = try environment(request)
        let apps = services.entitlements.apps.all.map(\.bundleIdentifier)
        let named = try request.query("app")
        let app = apps.first { named?.hasSameBytes(as: $0) ?? false }
        async let today = services.entitlements.activityToday(from: environment.origins)
        async let activity = services.entitlements.latestActivity(
            from: environment.origins, limit: ActivityFeed.length)
        async let keyNames = services.entitlements.apiKeyNames()
        var figures: OverviewFigures?
        if let service = services.figures { figures = try await OverviewFigures(service, environment, app: app) }
        return try await OverviewPage(
            environment: environment, app: app, apps: apps, figures: figures, today: today, activity: activity,
            keyNames: keyNames
        ).page
    }

    /// The environment that the person chose. A service with a local store of the sandbox has no production.
    private func environment(_ request: Request) throws(Problem) -> FigureQuery.Environment {
        let standard: FigureQuery.Environment =
            services.store.map { $0.environment == .sandbox } ?? false ? .sandbox : .production
        return try FigureSelection.word("environment", of: request) ?? standard
    }
}
