import Catalog
import HTTPSupport
import Hummingbird
import Ledger
import Proofs
import Synchronization

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

/// A catalog with the data that the service derives from it.
final class CatalogView: Sendable {
    let catalog: Catalog
    let pictures: PictureAddresses
    let languages: [String]
    /// The answers about this state of the catalog.
    let answers = CatalogAnswers()

    init(_ catalog: Catalog, before: CatalogView? = nil) {
        self.catalog = catalog
        pictures = PictureAddresses(catalog: catalog, before: before?.pictures)
        languages = catalog.languages
    }
}

/// Encoded answers about a catalog, which are the same until it changes.
final class CatalogAnswers: Sendable {
    /// The longest name of a kept answer, in bytes. Requests with longer queries are answered anew.
    private static let maximumNameLength = 256

    /// A team asks for few different pages. A client that asks for many gets no more memory.
    private let kept = RecentValues<ByteKey, CacheableAnswer>(upTo: 4 << 20)

    /// The answer to a request, made by `make` if it is not kept.
    ///
    /// - Parameter language: The language of the answer; nil if it has none.
    func answer(
        to request: Request, in language: String? = nil, _ make: () throws -> [UInt8]
    ) rethrows -> CacheableAnswer {
        let name = "\(request.uri.string) \(language ?? "")"
        let isKept = name.utf8.count <= Self.maximumNameLength
        if isKept, let known = kept[ByteKey(name)] { return known }
        let answer = CacheableAnswer(try make(), type: "application/json")
        if isKept { kept.keep(answer, for: ByteKey(name), size: answer.size + Self.maximumNameLength) }
        return answer
    }
}

/// The view of the current catalog, rebuilt after a change of the catalog.
final class CurrentCatalogView: Sendable {
    private let current: CurrentCatalog
    private let last: Mutex<(view: CatalogView, version: Int64)>

    init(_ current: CurrentCatalog) {
        self.current = current
        let (catalog, version) = current.versioned
        last = Mutex((CatalogView(catalog), version))
    }

    var view: CatalogView {
        last.withLock { last in
            if last.version != current.version {
                let (catalog, version) = current.versioned
                last = (CatalogView(catalog, before: last.view), version)
            }
            return last.view
        }
    }
}

/// The apps of requests: the app of the caller's key or token, or that of `?app=`.
struct RequestedApps: Sendable {
    /// The longest bundle identifier, in bytes (App Store Connect).
    static let maximumLength = 155

    let apps: Apps

    /// The app of a request.
    ///
    /// - Throws: `Problem`: `appRequired` if the service sells several apps and the request names none; `parameterInvalid` for
    ///   an unknown app; `appForbidden`.
    func app(of request: Request, _ context: ServiceContext) throws(Problem) -> App {
        if let named = try Self.name(of: request, context) {
            if let app = apps[named] { return app }
            // A caller of one app does not learn of others.
            if let own = context.caller?.limitingApp { throw .appForbidden(own) }
            throw .parameter("app", "one of \(names)")
        }
        guard apps.all.count == 1 else {
            throw Problem(
                status: .badRequest, code: "appRequired",
                detail: "The service sells several apps. Name one of \(names) in the query parameter app.")
        }
        return apps.first
    }

    private var names: String { apps.all.map(\.bundleIdentifier).joined(separator: ", ") }

    /// The bundle identifier of a request's app; nil for all apps. The service may no longer sell the app.
    ///
    /// - Throws: `Problem`: `appForbidden` if the caller's key or token is for another app; `parameterInvalid`.
    static func name(of request: Request, _ context: ServiceContext) throws(Problem) -> String? {
        let named = try request.query("app", upTo: maximumLength)
        guard let own = context.caller?.app else { return named }
        guard named?.hasSameBytes(as: own) ?? true else { throw .appForbidden(own) }
        return own
    }
}
