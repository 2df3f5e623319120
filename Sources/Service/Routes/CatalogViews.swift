import Catalog
import HTTPSupport
import Hummingbird
import Proofs

/// The views of the catalogs of all apps.
struct CatalogViews: Sendable {
    private let requested: RequestedApps
    /// The views in the order of the apps.
    private let views: [CurrentCatalogView]

    init(_ apps: Apps) {
        requested = RequestedApps(apps: apps)
        views = apps.all.map { CurrentCatalogView($0.current) }
    }

    /// The view of the requested app.
    ///
    /// - Throws: The problems of `RequestedApps`.
    func view(of request: Request, _ context: ServiceContext) throws(Problem) -> CatalogView {
        view(of: try app(of: request, context))
    }

    /// The requested app.
    ///
    /// - Throws: The problems of `RequestedApps`.
    func app(of request: Request, _ context: ServiceContext) throws(Problem) -> App {
        try requested.app(of: request, context)
    }

    /// The limit of the caller of a request; nil for a caller of all apps.
    func limit(of context: ServiceContext) -> AppLimit? {
        requested.apps.catalogs.limit(to: context.caller?.limitingApp)
    }

    func view(of app: App) -> CatalogView {
        let index = requested.apps.all.firstIndex { $0.bundleIdentifier == app.bundleIdentifier }
        return views[index ?? 0].view
    }

    /// The views of one app, or of all.
    ///
    /// - Parameter app: A bundle identifier; nil for all apps.
    func all(of app: String?) -> [CatalogView] {
        views.map(\.view).filter { app?.hasSameBytes(as: $0.catalog.bundleIdentifier) ?? true }
    }
}
