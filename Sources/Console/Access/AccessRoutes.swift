import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The pages for visitors: logging in and out, the first password, and the language.
struct AccessRoutes: Sendable {
    let team: TeamService
    let attempts: LogInAttempts
    let passwords: PasswordWork
    let cookies: ConsoleCookie

    func add(to group: RouterGroup<ConsoleContext>) {
        group.get("log-in") { request, context in
            let next = try request.query("next", upTo: ConsolePath.maximumLength)
            return LogInPage(context: context, next: Self.next(next)).page.response(context)
        }
        group.post("log-in") { request, context in try await logIn(request, context) }
        group.post("log-out") { _, context in
            try await team.logOut(context.cookie)
            return Response.seeOther(ConsolePath("log-in"))
        }
        group.get("invitation") { _, context in InvitationPage(context: context).page.response(context) }
        group.post("invitation") { _, context in try await accept(context) }
        group.post("language") { _, context in
            guard let language = ConsoleLanguage(rawValue: try context.form.text("language")) else {
                throw ConsoleForm.invalid("language", "a language of the console")
            }
            let page = try context.form.text("page", upTo: ConsolePath.maximumLength)
            var response = Response.seeOther(Self.next(page))
            cookies.set(language, in: &response)
            return response
        }
    }

    private func logIn(_ request: Request, _ context: ConsoleContext) async throws -> Response {
        let name = try context.form.text("name", upTo: TeamMember.maximumNameLength)
        let (password, code) = (try context.form.password("password"), try context.form.text("code"))
        let cookie = try await attempts.run(name, from: context.service.clientAddress(of: request)) {
            let member = try await team.member(named: name)
            let isRight = try await passwords.run { try team.isPassword(password, of: member) }
            guard let member, isRight else { throw TeamError.credentialsWrong }
            return try await team.logIn(member, code: code, ending: context.cookie)
        }
        var response = Response.seeOther(Self.next(try context.form.text("next", upTo: ConsolePath.maximumLength)))
        cookies.set(cookie, in: &response)
        return response
    }

    private func accept(_ context: ConsoleContext) async throws -> Response {
        // Some people paste the whole link. Nobody guesses a secret of 256 bits, so attempts have no limit of their own.
        let code = try context.form.text("code", upTo: ConsolePath.maximumLength)
        let secret = code.split(separator: "#").last.map(String.init) ?? ""
        let member = try await team.member(invited: secret)
        let password = try NewPassword.read(context.form, of: member)
        let hash = try await passwords.run { try team.hash(password) }
        try await team.accept(invitation: secret, passwordHash: hash)
        return .seeOther(ConsolePath("log-in"))
    }

    /// The page to show after a form of a visitor. Only a path of the console is one.
    private static func next(_ text: String?) -> ConsolePath {
        text.flatMap { ConsolePath(request: $0) } ?? ConsolePath()
    }
}
