import HTTPTypes
import Hummingbird
import Proofs

/// The origin of a page, in the form in which browsers send it (RFC 6454 section 6.2), such as `https://shop.example.com`.
package struct WebOrigin: Hashable, Sendable {
    /// The longest origin, in bytes.
    private static let maximumLength = 512

    let text: String

    /// - Returns: Nil for another text, such as `*`, `null`, an address with a path, or a port that browsers leave out.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumLength, let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes.first.map(Self.isLetter) == true,
            bytes[..<colon].allSatisfy({ Self.isLetter($0) || Self.isDigit($0) || "+-.".utf8.contains($0) }),
            bytes[colon...].prefix(3).elementsEqual("://".utf8)
        else { return nil }
        let authority = bytes[(colon + 3)...]
        let isAddress = authority.first == UInt8(ascii: "[")
        let last = authority.lastIndex(of: UInt8(ascii: isAddress ? "]" : ":"))
        guard let end = last ?? (isAddress ? nil : authority.endIndex) else { return nil }
        let host = isAddress ? authority[..<end].dropFirst() : authority[..<end]
        let rest = isAddress ? authority[end...].dropFirst() : authority[end...]
        guard !host.isEmpty,
            host.allSatisfy({
                Self.isLetter($0) || Self.isDigit($0) || (isAddress ? ":" : "-._").utf8.contains($0)
            })
        else { return nil }
        if !rest.isEmpty {
            guard rest.first == UInt8(ascii: ":"), (2...6).contains(rest.count),
                rest.dropFirst().allSatisfy(Self.isDigit), rest.dropFirst().first != UInt8(ascii: "0")
            else { return nil }
        }
        let standardPorts = ["http": ":80", "https": ":443"]
        guard standardPorts[String(decoding: bytes[..<colon], as: UTF8.self)]?.utf8.elementsEqual(rest) != true else {
            return nil
        }
        self.text = text
    }

    /// Browsers send scheme and host in lower case.
    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

/// The pages of the team whose browsers may call the routes for apps (CORS, Fetch Standard section 3.3).
///
/// Hummingbird's middleware answers a preflight for each path and every origin, and adds no field to a problem. The routes of back ends and of
/// the console are not for pages, and an error is to be read, too. No answer allows credentials: a token is in a header that the page
/// sets, and the console's cookies stay where they are.
package struct CrossOriginMiddleware: RouterMiddleware {
    /// A method and a path, such as `/v1/products/{product}`.
    package typealias Route = (method: HTTPRequest.Method, path: String)

    /// The seconds for which a browser may keep the answer to a preflight. Chromium keeps none for more than two hours.
    private static let maximumAge = "7200"
    /// The header fields that the API reads, besides those that a page may always send.
    private static let readFields =
        "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Till-Position"
    /// The maximum length of the requested names of header fields, in bytes.
    private static let maximumNames = 1024
    /// The header fields of answers that a page may read, besides those that it may always read.
    private static let answerFields =
        "ETag, Idempotent-Replayed, Link, Retry-After, Till-Position, WWW-Authenticate, X-RevenueCat-Request-Time, X-Request-Id"

    private let origins: Set<ByteKey>
    private let routes: PathTable<Void>

    /// - Parameter routes: The routes that pages may call.
    package init(_ origins: [WebOrigin], routes: [Route]) {
        self.origins = Set(origins.map { ByteKey($0.text) })
        self.routes = PathTable(routes.map { ($0.method, $0.path, ()) })
    }

    package func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        guard !origins.isEmpty else { return try await next(request, context) }
        let origin = request.headers[.origin].flatMap { origins.contains(ByteKey($0)) ? $0 : nil }
        if request.method == .options, let origin, let method = requestedMethod(request) {
            return Response(
                status: .noContent,
                headers: [
                    .accessControlAllowOrigin: origin, .accessControlAllowMethods: method.rawValue,
                    .accessControlAllowHeaders: requestedNames(request) ?? Self.readFields,
                    .accessControlMaxAge: Self.maximumAge,
                    .vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
                ])
        }
        var response = try await next(request, context)
        // A route may allow every page by itself.
        guard isForPages(request.method, request), response.headers[.accessControlAllowOrigin] == nil else {
            return response
        }
        response.headers[values: .vary].append("Origin")
        if let origin {
            response.headers[.accessControlAllowOrigin] = origin
            response.headers[.accessControlExposeHeaders] = Self.answerFields
        }
        return response
    }

    private func isForPages(_ method: HTTPRequest.Method, _ request: Request) -> Bool {
        routes.value(of: method == .head ? .get : method, at: request.path) != nil
    }

    /// The method of the request that follows a preflight; nil if it is not for pages.
    private func requestedMethod(_ request: Request) -> HTTPRequest.Method? {
        request.headers[.accessControlRequestMethod].flatMap { HTTPRequest.Method($0) }
            .flatMap { isForPages($0, request) ? $0 : nil }
    }

    /// The names of header fields that a browser asks for. SDKs add fields that no route reads.
    private func requestedNames(_ request: Request) -> String? {
        guard let names = request.headers[.accessControlRequestHeaders],
            (1...Self.maximumNames).contains(names.utf8.count),
            names.split(separator: ",").allSatisfy({ HTTPField.Name(String($0.drop { $0 == " " })) != nil })
        else { return nil }
        return names
    }
}

extension APIOperation {
    /// True if apps call the operation, with a user's token, a public key or without a credential. The senders of what anybody may send
    /// with any parameter are probes and stores.
    package var isForApps: Bool {
        switch access {
        case .app, .backEndOrApp, .publicApp, .backEndOrPublicApp: true
        case .anybody: !ignoresUnknownParameters
        case .backEnd, .identified, nil: false
        }
    }
}
