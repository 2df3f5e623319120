import Features
import HTTPSupport
import Hummingbird

/// The pages for visitors: logging in and out, the first password, and the language.
struct AccessRoutes: Sendable {
    let team: TeamService
    let attempts: PasswordLimits
    let passwords: PasswordWork
    let cookies: ConsoleCookie

    func add(to group: RouterGroup<ConsoleContext>) {
        group.get("log-in") { request, context in
            let next = Self.next(try request.query("next", upTo: ConsolePath.maximumLength))
            return Page("Log in") {
                context.form(to: ConsolePath("log-in"), .class("card narrow")) {
                    hidden("next", next.text)
                    Field.text("name", "Name", autocomplete: "username", isRequired: true)
                    Field.password("password", "Password", autocomplete: "current-password")
                    Field.text(
                        "code", "Code of your authenticator app, if you use one",
                        autocomplete: "one-time-code", inputMode: "numeric")
                    button(.class("primary")) { "Log in" }
                }
                p(.class("note")) {
                    "New here, or no password any more? Ask an administrator for a link:"
                    also(code { plain("till console invite NAME") })
                }
            }
            .response(context)
        }
        group.post("log-in") { request, context in try await logIn(request, context) }
        group.post("log-out") { _, context in
            try await team.logOut(context.cookie)
            return Response.seeOther(ConsolePath("log-in"))
        }
        // The page of a one-time link. The script fills in the code of the link.
        group.get("invitation") { _, context in
            Page("Choose a password") {
                context.form(to: InvitationLink.page, .class("card narrow")) {
                    Field.text(
                        "code", "Code of your link", autocomplete: "one-time-code",
                        maximumLength: ConsolePath.maximumLength, isRequired: true,
                        note: "If the field is empty, paste the part of your link after #.", HTMLAttribute("data-code"))
                    NewPassword.fields
                    button(.class("primary")) { "Set the password" }
                }
            }
            .response(context)
        }
        group.post("invitation") { request, context in try await accept(request, context) }
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
        let network = context.service.clientNetwork(of: request)
        let cookie = try await attempts.attempt(name, from: network) {
            let member = try await team.member(named: name)
            let stored = member?.passwordHash
            // No name goes first, because the time of an answer would tell whose names there are.
            let isRight = try await passwords.run(for: network) { try team.passwords.matches(password, stored) }
            guard let member, isRight else { throw TeamError.credentialsWrong }
            return try await team.logIn(member, code: code, ending: context.cookie)
        }
        var response = Response.seeOther(Self.next(try context.form.text("next", upTo: ConsolePath.maximumLength)))
        cookies.set(cookie, in: &response)
        return response
    }

    private func accept(_ request: Request, _ context: ConsoleContext) async throws -> Response {
        let network = context.service.clientNetwork(of: request)
        // Nobody guesses a secret of 256 bits, but each attempt reads the ledger.
        try attempts.ofNetwork.require(network)
        // Some people paste the whole link.
        let code = try context.form.text("code", upTo: ConsolePath.maximumLength)
        let secret = code.split(separator: "#").last.map(String.init) ?? ""
        let member = try await team.member(invited: secret)
        let password = try NewPassword.read(context.form, of: member)
        let hash = try await passwords.run(for: network, isKnown: true) { try team.passwords.hash(password) }
        try await team.accept(invitation: secret, passwordHash: hash)
        return .seeOther(ConsolePath("log-in"))
    }

    /// The page to show after a form of a visitor. Only a path of the console is one.
    private static func next(_ text: String?) -> ConsolePath {
        text.flatMap { ConsolePath(request: $0) } ?? ConsolePath()
    }
}

/// The one-time link of an invitation.
///
/// The secret is the fragment of the link, which browsers keep to themselves (RFC 3986 section 3.5). No log of a server or a
/// proxy has it.
package enum InvitationLink {
    static let page = ConsolePath("invitation")

    /// - Parameter address: The address at which browsers reach the service, without a path.
    package static func text(_ secret: String, at address: String) -> String {
        address + page.text + "#" + secret
    }
}

/// A new password that is typed twice.
enum NewPassword {
    private static let first = Field.password(
        "new-password", "New password (at least \(Password.minimumLength) characters)", autocomplete: "new-password")
    private static let second = Field.password("repetition", "The same again", autocomplete: "new-password")

    @HTMLBuilder static var fields: HTML {
        first
        second
    }

    /// - Throws: `Problem`, `PasswordError`.
    static func read(_ form: ConsoleForm, of member: TeamMember) throws -> Password {
        let (password, repetition) = (try form[first], try form[second])
        guard password.utf8.elementsEqual(repetition.utf8) else {
            throw Problem(
                status: .unprocessableContent, code: "passwordsDiffer",
                detail: "The two passwords differ. Type the same password twice.")
        }
        return try Password(password, unlike: [member.name.lowercased()])
    }
}
