import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

struct ConsoleContext: ChildRequestContext {
    var coreContext: CoreRequestContextStorage
    let service: ServiceContext
    var language = ConsoleLanguage.english
    /// The secret of the browser's cookie: a session, or a visit without one. Its forms are bound to it.
    var cookie = ""
    /// The member of the session. Nil on the pages for visitors.
    var member: TeamMember?
    /// The entries of the navigation that the member may use.
    var sections: [ConsoleSection] = []
    /// The page that the request reads. Nil for a form, and outside of a session.
    var page: ConsolePath?
    /// The form that the request sends. Empty for a request that reads.
    var form = ConsoleForm()

    /// The confirmation of the form that led to this page.
    var notice: Notice?

    init(context: ServiceContext) {
        coreContext = context.coreContext
        service = context
    }

    /// The token that the forms of this cookie carry against forgery. It follows from the cookie and does not reveal it.
    var formToken: String {
        Base64.encode(
            MessageAuthentication.hmac(.sha256, of: Array("form".utf8), secret: Array(cookie.utf8)), .urlSafe)
    }

    /// A value of the path.
    ///
    /// - Throws: `Problem`, `pathUnknown`, for a text that is none.
    func parameter<Value>(_ name: String, _ parse: (String) -> Value?) throws -> Value {
        guard let value = parse(try parameters.text(name)) else { throw Problem.pathUnknown }
        return value
    }

    func may(_ permission: TeamPermission) -> Bool {
        member?.role.permissions.contains(permission) ?? false
    }

    /// The member who acts.
    ///
    /// - Throws: `Problem` if the page needs no session. This is a defect of the console.
    var requiredMember: TeamMember {
        get throws(Problem) {
            guard let member else { throw .unexpected }
            return member
        }
    }

    /// The name of the member in audit logs.
    var caller: String { get throws(Problem) { try requiredMember.caller } }
}

struct ConsoleCookie: Sendable {
    private static let language = "till_language"

    /// True if the browser may send the cookies only over TLS.
    let isSecure: Bool

    /// The name of the session's cookie. No other host of the domain can set one with the prefix, which requires the path `/` (RFC
    /// 6265bis section 4.1.3.2).
    private var session: String { isSecure ? "__Host-till_console" : "till_console" }

    /// The secret that a browser presents. Nil for none, or for one that the console never made.
    func secret(of request: Request) -> String? {
        request.cookies[session].flatMap { Secret(presented: $0.value) }?.text
    }

    static func language(of request: Request) -> ConsoleLanguage? {
        request.cookies[language].flatMap { ConsoleLanguage(rawValue: $0.value) }
    }

    /// A cookie that ends with the session at the service, or with the browser.
    func set(_ secret: String, in response: inout Response) {
        add(session, secret, TeamService.sessionTime / 1000, path: isSecure ? "/" : ConsolePath.root, to: &response)
    }

    func set(_ language: ConsoleLanguage, in response: inout Response) {
        add(Self.language, language.rawValue, 365 * 86_400, path: ConsolePath.root, to: &response)
    }

    private func add(_ name: String, _ value: String, _ seconds: Int64, path: String, to response: inout Response) {
        let secure = isSecure ? "; Secure" : ""
        response.headers.append(
            HTTPField(
                name: .setCookie,
                value:
                    "\(name)=\(value); Path=\(path); Max-Age=\(seconds); HttpOnly; SameSite=Strict\(secure)"
            ))
    }
}

/// The rest of the way of a request: further middleware, and its page.
typealias NextPage = (Request, ConsoleContext) async throws -> Response

/// Shows every error as a page, in the language of the browser.
struct ConsoleErrorMiddleware: RouterMiddleware {
    func handle(_ request: Request, context: ConsoleContext, next: NextPage) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            let problem = ProblemMiddleware.problem(of: error, context.service)
            let sentence = ErrorSentences.phrase(of: error, as: problem)
            return Page(of: problem, sentence, in: context.language)
                .response(context, status: .init(code: problem.status))
        }
    }
}

/// Reads a plus sign in a query as a space, as forms encode it (URL Standard section 5.1). Links encode both.
struct FormQueryMiddleware: RouterMiddleware {
    func handle(_ request: Request, context: ConsoleContext, next: NextPage) async throws -> Response {
        let parts = (request.head.path ?? "").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].contains("+") else { return try await next(request, context) }
        var head = request.head
        head.path = parts[0] + "?" + parts[1].replacing("+", with: "%20")
        return try await next(Request(head: head, body: request.body), context)
    }
}

/// Chooses the language of the pages: the one that the person chose, or the first that the browser prefers.
struct LanguageMiddleware: RouterMiddleware {
    func handle(_ request: Request, context: ConsoleContext, next: NextPage) async throws -> Response {
        var context = context
        context.language =
            ConsoleCookie.language(of: request)
            ?? Language.choose(for: request, among: ConsoleLanguage.allCases.map(\.rawValue))
            .flatMap { ConsoleLanguage(rawValue: $0) } ?? .english
        return try await next(request, context)
    }
}

/// Sends the header fields that keep other sites and injected text out of the console's pages.
struct SecurityHeadersMiddleware: RouterMiddleware {
    private static let fields: [(String, String)] = [
        (
            "Content-Security-Policy",
            "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        // With no-referrer, a browser would send forms with the origin "null".
        ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    func handle(_ request: Request, context: ConsoleContext, next: NextPage) async throws -> Response {
        var response = try await next(request, context)
        for (name, value) in Self.fields {
            // A picture states a stricter policy itself.
            if let name = HTTPField.Name(name), response.headers[name] == nil { response.headers[name] = value }
        }
        // Assets say themselves how long they may be kept.
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        return response
    }
}

/// Finds the session of a browser, and refuses forms that another site has made.
struct SessionMiddleware: RouterMiddleware {
    let team: TeamService
    /// The entries of the navigation that this service has.
    let sections: [ConsoleSection]
    let cookies: ConsoleCookie
    let randomness: Randomness

    func handle(_ request: Request, context: ConsoleContext, next: NextPage) async throws -> Response {
        var context = context
        let presented = cookies.secret(of: request)
        // A browser without a session gets a secret of its own.
        context.cookie = presented ?? Secret(randomness: randomness).text
        if let presented { context.member = try await team.member(presenting: presented) }
        context.sections = sections.filter { context.may($0.permission) }
        if request.method == .get { context.page = ConsolePath(request: request.uri.string) }
        context.notice = try request.query("done").flatMap { Notice(rawValue: $0) }
        if request.method == .post {
            try Self.checkOrigin(of: request)
            // Anybody can send a form without a session, so it is small.
            let maximumSize = context.member == nil ? ConsoleForm.maximumSizeOfVisitors : ConsoleForm.maximumSize
            context.form = try await ConsoleForm(request, context.service, upTo: maximumSize)
            let token = context.form.bytes(ConsoleForm.tokenField) ?? []
            guard presented != nil, token.count <= 64, ConstantTime.areEqual(token, Array(context.formToken.utf8))
            else {
                throw Problem(
                    status: .forbidden, code: "formExpired",
                    detail:
                        "The form is from an earlier session or from another site. Reload the page and send it again.")
            }
        }
        var response = try await next(request, context)
        // A response that sets a session has its own cookie.
        if presented == nil, !response.headers.contains(.setCookie) { cookies.set(context.cookie, in: &response) }
        return response
    }

    /// Browsers state the site that sends a form (Fetch Standard, `Sec-Fetch-Site` and `Origin`).
    ///
    /// `Sec-Fetch-Site` comes first: a proxy may have changed the host with which `Origin` is compared.
    private static func checkOrigin(of request: Request) throws(Problem) {
        let isAllowed: Bool
        if let site = HTTPField.Name.secFetchSite.flatMap({ request.headers[$0] }) {
            // "none": the person has repeated the form, without any page.
            isAllowed = site == "same-origin" || site == "none"
        } else if let origin = request.headers[.origin] {
            isAllowed = origin.split(separator: "/", maxSplits: 2).last.map(String.init) == request.head.authority
        } else {
            isAllowed = true
        }
        guard isAllowed else {
            throw Problem(
                status: .forbidden, code: "crossOrigin",
                detail: "Another site has sent the form. Use the console's pages.")
        }
    }
}
