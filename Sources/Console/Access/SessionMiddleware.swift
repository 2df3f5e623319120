import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// Finds the session of a browser, and refuses forms that another site has made.
struct SessionMiddleware: RouterMiddleware {
    let team: TeamService
    /// The entries of the navigation that this service has.
    let sections: [ConsoleSection]
    let cookies: ConsoleCookie
    let randomness: Randomness

    func handle(
        _ request: Request,
        context: ConsoleContext,
        next: (Request, ConsoleContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        let presented = cookies.secret(of: request)
        context.cookie = presented ?? ConsoleCookie.newSecret(randomness)
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
