import Catalog
import HTTPSupport
import Hummingbird
import Proofs

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
