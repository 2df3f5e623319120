import HTTPTypes
import Hummingbird
import Ledger

/// The routes of an additional part of the service.
package protocol RouteSource: Sendable {
    func add(to router: Router<ServiceContext>)

    /// The middleware around the requests of some paths. It receives the problems of limits and of other middleware, too.
    var pathMiddleware: [PathMiddleware.Entry] { get }

    /// The routes that apps call with a public key.
    var appRoutes: [CrossOriginMiddleware.Route] { get }
}

extension RouteSource {
    package var pathMiddleware: [PathMiddleware.Entry] { [] }

    package var appRoutes: [CrossOriginMiddleware.Route] { [] }
}

extension Router where Context == ServiceContext {
    /// Adds the middleware around all routes of a service or a store: metrics, limits, problem documents.
    ///
    /// - Parameters:
    ///   - others: The additional parts, whose middleware receives the problems of the rest.
    ///   - pages: The pages that may call routes for apps; nil for none.
    ///   - routes: The routes that the router will have.
    package func addMiddleware(
        counting metrics: ServiceMetrics,
        _ sharedLimits: SharedLimits,
        around others: [any RouteSource] = [],
        for pages: CrossOriginMiddleware? = nil,
        routes: [RouteDescription]
    ) {
        add(
            middleware: ServiceMiddleware(
                requests: RequestMiddleware(metrics: metrics, lines: sharedLimits.lines),
                pages: pages ?? CrossOriginMiddleware([], routes: []),
                paths: PathMiddleware(others.flatMap(\.pathMiddleware)),
                admission: AdmissionMiddleware(sharedLimits: sharedLimits), problems: ProblemMiddleware(),
                methods: MethodMiddleware(routes)))
    }
}

/// The middleware around all routes, as one.
///
/// Every request passes it. Six that are added to a router one by one would call each other through existential types.
struct ServiceMiddleware: RouterMiddleware {
    let requests: RequestMiddleware
    let pages: CrossOriginMiddleware
    let paths: PathMiddleware
    let admission: AdmissionMiddleware
    let problems: ProblemMiddleware
    let methods: MethodMiddleware

    func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        guard request.method.isSafe else { return try await pass(request, context, next) }
        return try await ReadOnlyTask.$isCurrent.withValue(true) { try await pass(request, context, next) }
    }

    private func pass(_ request: Request, _ context: ServiceContext, _ next: NextHandler) async throws -> Response {
        try await requests.handle(request, context: context) { request, context in
            try await pages.handle(request, context: context) { request, context in
                try await paths.handle(request, context: context) { request, context in
                    try await admission.handle(request, context: context) { request, context in
                        try await problems.handle(request, context: context) { request, context in
                            try await methods.handle(request, context: context, next: next)
                        }
                    }
                }
            }
        }
    }
}

extension HTTPRequest.Method {
    /// True for the methods that only read (RFC 9110 section 9.2.1).
    var isSafe: Bool { [.get, .head, .options].contains(self) }
}

/// The middleware of some paths alone.
package struct PathMiddleware: RouterMiddleware {
    package typealias Entry = PathTable<any RouterMiddleware<ServiceContext>>.Entry

    private let table: PathTable<any RouterMiddleware<ServiceContext>>

    init(_ entries: [Entry]) {
        table = PathTable(entries)
    }

    package func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        guard let middleware = table.value(of: request.method, at: request.path) else {
            return try await next(request, context)
        }
        return try await middleware.handle(request, context: context, next: next)
    }
}

/// Values by the methods and paths of requests. A segment of a path in braces stands for any.
///
/// It is made once. Most requests have none of its paths, so a look-up stops at the first segment that differs.
package struct PathTable<Value: Sendable>: Sendable {
    package typealias Entry = (method: HTTPRequest.Method, path: String, value: Value)

    /// A position in paths, after some of their segments.
    private struct Position: Sendable {
        /// The following positions, by the bytes of the segment before them.
        var named: [(segment: [UInt8], position: Int)] = []
        /// The position after any other segment; nil if no path goes on.
        var unnamed: Int?
        /// The values of the paths that end here.
        var values: [(method: HTTPRequest.Method, value: Value)] = []
    }

    private static var separator: UInt8 { UInt8(ascii: "/") }

    private var positions = [Position()]

    /// - Parameter entries: The values, each with another method or path.
    package init(_ entries: [Entry]) {
        for entry in entries {
            let segments = entry.path.utf8.split(separator: Self.separator)
            let end = segments.reduce(0) { position($0, followedBy: Array($1)) }
            positions[end].values.append((entry.method, entry.value))
        }
    }

    /// The position after a segment, added if it is missing.
    private mutating func position(_ position: Int, followedBy segment: [UInt8]) -> Int {
        let isNamed = segment.first != UInt8(ascii: "{")
        let known =
            isNamed
            ? positions[position].named.first { $0.segment == segment }?.position : positions[position].unnamed
        if let known { return known }
        positions.append(Position())
        let added = positions.count - 1
        if isNamed {
            positions[position].named.append((segment, added))
        } else {
            positions[position].unnamed = added
        }
        return added
    }

    /// The value of a request. Empty segments are ignored, as by the router.
    package func value(of method: HTTPRequest.Method, at path: Substring) -> Value? {
        var path = path
        return path.withUTF8 { value(of: method, at: $0[...], from: positions[0]) }
    }

    private func value(
        of method: HTTPRequest.Method, at path: Slice<UnsafeBufferPointer<UInt8>>, from position: Position
    ) -> Value? {
        let path = path.drop { $0 == Self.separator }
        let segment = path.prefix { $0 != Self.separator }
        guard !segment.isEmpty else { return position.values.first { $0.method == method }?.value }
        let rest = path[segment.endIndex...]
        for (name, next) in position.named where name.hasSameBytes(as: segment) {
            if let value = value(of: method, at: rest, from: positions[next]) { return value }
        }
        return position.unnamed.flatMap { value(of: method, at: rest, from: positions[$0]) }
    }
}

extension [UInt8] {
    /// Not a part of the generic table, where the iterators of a comparison allocate memory.
    fileprivate func hasSameBytes(as segment: Slice<UnsafeBufferPointer<UInt8>>) -> Bool { elementsEqual(segment) }
}

extension Request {
    /// The path as it was sent, without the copy that `uri.path` makes.
    package var path: Substring {
        // A target may be a whole address (RFC 9112 section 3.2.2). `URI` compares its first character, which is the first byte because
        // `RequestHead` refuses bytes above 0x7F.
        guard uri.string.utf8.first == UInt8(ascii: "/") else { return uri.path[...] }
        return Substring(uri.string.utf8.prefix { $0 != UInt8(ascii: "?") })
    }
}

/// Responds with 405 and the path's methods if a request has another method (RFC 9110 section 15.5.6). Hummingbird
/// alone would respond with 404.
struct MethodMiddleware: RouterMiddleware {
    private let paths: [(segments: [Substring], methods: [String])]

    init(_ routes: [Router<ServiceContext>.RouteDescription]) {
        paths = Dictionary(grouping: routes, by: \.path.description).map { path, routes in
            let methods = Set(routes.map(\.method.rawValue))
            return (
                path.split(separator: "/").map { Substring(String($0)) },
                methods.union(methods.contains("GET") ? ["HEAD"] : []).sorted()
            )
        }
    }

    func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            // Only Hummingbird throws this error. The routes throw problems.
            guard let methods = methods(of: request.uri.path) else { throw error }
            throw Problem.methodNotAllowed(allowed: methods)
        }
    }

    /// The methods of a path. Nil if the path is unknown.
    private func methods(of path: String) -> [String]? {
        let segments = path.split(separator: "/")
        return paths.first { known in
            known.segments.count == segments.count
                && zip(known.segments, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }?.methods
    }
}
