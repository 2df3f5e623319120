import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The pages on which administrators add, invite and remove members, and change their roles.
struct TeamRoutes: Sendable {
    static let name = Field.text(
        "name", "Name", upTo: TeamMember.maximumNameLength, isRequired: true, note: "The audit log shows it.")

    private static let role = Field.choice(
        "role", "Role", TeamRole.allCases,
        expected: "one of \(TeamRole.allCases.map(\.rawValue).joined(separator: ", "))", text: { $0.rawValue },
        shown: { $0.title }, chosen: .viewer)

    let services: any ConsoleServices

    var team: TeamService { services.team }

    func add(to pages: ConsolePages) {
        pages.get("team", .administer) { request, context in try await page(request, context) }
        pages.post("team/members", .administer) { request, context in
            let name = try context.form[Self.name]
            let secret = try await team.add(name, role: try context.form[Self.role], by: try actor(context))
            return Self.page("Member added", name, secret, request)
        }
        pages.post("team/members/:name/invitation", .administer) { request, context in
            let name = try context.parameters.text("name")
            let secret = try await team.invite(name, by: try actor(context))
            return Self.page("New link", name, secret, request)
        }
        pages.post("team/members/:name/role", .administer) { _, context in
            let name = try context.parameters.text("name")
            try await team.setRole(try context.form[Self.role], of: name, by: try actor(context))
            return ConsolePath("team", done: .saved)
        }
        pages.post("team/members/:name/removal", .administer) { _, context in
            let name = try context.parameters.text("name")
            try await team.remove(name, by: try actor(context))
            return ConsolePath("team", done: .removed)
        }
    }

    private func actor(_ context: ConsoleContext) throws(Problem) -> TeamActor {
        .member(try context.requiredMember.name)
    }

    /// The page that shows the one-time link of a member, once. The link has the address that the administrator's browser uses.
    /// A browser without `Origin` gets the path alone.
    private static func page(_ title: Phrase, _ name: String, _ secret: String, _ request: Request) -> Page {
        Page(title, section: .team) {
            section(.class("card")) {
                p(.role("status")) {
                    spaced(Phrase("Send this link to"), data(name))
                    plain(".")
                }
                // The session has checked that the origin is this console.
                Shown.copyable("link", InvitationLink.text(secret, at: request.headers[.origin] ?? ""))
                note("The link sets a password once, within three days. It is not shown again.")
                p { a(.href(ConsolePath("team"))) { "Back to the team" } }
            }
        }
    }

    /// The page of the team: its members, the form for another one, and the changes.
    func page(_ request: Request, _ context: ConsoleContext) async throws -> Page {
        let (changes, next) = try await RequestedPage(request).list(at: \.number) {
            try await team.changes(before: $0, limit: $1)
        }
        let members = try await team.members()
        return Page("Team", section: .team) {
            h2 { "Members" }
            Self.table(of: members.filter { $0.removedAt == nil }, context)
            Self.addition(context)
            Self.removed(members.filter { $0.removedAt != nil })
            h2 { "Changes" }
            Listing.table(
                "Changes", of: changes, empty: "Nothing was changed yet.",
                next: next.map { ConsolePath("team", query: ["cursor": $0]) }
            ) {
                column("Time") { Shown.moment($0.happenedAt) }
                column("Change") { Self.sentence($0) }
                column("By") { change in
                    switch change.actor {
                    case .member(let name): data(name)
                    case .commandLine: "command line"
                    }
                }
            }
        }
    }

    private static func table(of members: [TeamMember], _ context: ConsoleContext) -> HTML {
        Listing.table("Members", of: Array(members.enumerated()), empty: "The team has no members.") {
            column("Name") { data($0.element.name) }
            column("Role") { $0.element.role.title }
            column("Password") {
                $0.element.passwordHash == nil ? Shown.badge("invited", .warning) : Shown.badge("set", .good)
            }
            column("Codes") {
                $0.element.codeSecret == nil
                    ? Shown.badge(Phrase("off", context: "codes")) : Shown.badge(Phrase("on", context: "codes"), .good)
            }
            column("Added") { Shown.moment($0.element.createdAt) }
            column("Actions") { actions($0.element, $0.offset, context) }
        }
    }

    @HTMLBuilder private static func actions(_ member: TeamMember, _ index: Int, _ context: ConsoleContext) -> HTML {
        context.action("Role", to: path(member, "role"), submit: "Change the role", .plain) {
            labelled("role-\(index)", "Role") {
                select(.id("role-\(index)"), .name(role.name)) {
                    for role in TeamRole.allCases {
                        option(.value(role.rawValue), role == member.role ? .selected : nil) { role.title }
                    }
                }
            }
        }
        context.action(
            "Invite again", to: path(member, "invitation"), submit: "Make a link", .plain, HTMLAttribute("data-stay")
        ) {
            p { "A new link sets another password and turns off codes. Until it is used, the password is valid." }
        }
        if context.member.map({ !$0.name.hasSameBytes(as: member.name) }) ?? true {
            context.action("Remove", to: path(member, "removal"), submit: "Remove the member", .danger) {
                p { "The sessions end at once. The name is never used again." }
            }
        }
    }

    private static func path(_ member: TeamMember, _ action: String) -> ConsolePath {
        ConsolePath("team", "members", member.name, action)
    }

    private static func addition(_ context: ConsoleContext) -> HTML {
        card("Add a member", isNarrow: true) {
            context.form(to: ConsolePath("team", "members"), HTMLAttribute("data-stay")) {
                name
                role
                ul(.class("note")) { for role in TeamRole.allCases { li { role.explanation } } }
                button(.class("primary")) { "Add, and make a link" }
            }
        }
    }

    private static func removed(_ members: [TeamMember]) -> HTML? {
        guard !members.isEmpty else { return nil }
        return details(.class("action")) {
            summary { "Removed members" }
            Listing.table("Removed members", of: members, empty: "None.") {
                column("Name") { data($0.name) }
                column("Role") { $0.role.title }
                column("Added") { Shown.moment($0.createdAt) }
                column("Removed") { Shown.moment($0.removedAt) }
            }
        }
    }

    @HTMLBuilder private static func sentence(_ change: TeamChange) -> HTML {
        spaced(by: ": ", data(change.member), Phrase(change.event.title))
        if let role = change.role {
            plain(" (")
            role.title
            plain(")")
        }
    }
}

extension TeamRole {
    var title: Phrase {
        switch self {
        case .viewer: "Viewer"
        case .support: "Support"
        case .catalog: Phrase("Catalog", context: "role")
        case .admin: "Administrator"
        }
    }

    /// The role's permissions in a sentence.
    var explanation: Phrase {
        switch self {
        case .viewer: "Viewer: sees everything, changes nothing."
        case .support: "Support: gives, revokes and assigns purchases, and controls the local App Store."
        case .catalog: "Catalog: changes products, and controls the local App Store."
        case .admin: "Administrator: may do everything."
        }
    }
}

/// The pages on which members change their own password and codes.
struct MemberAccountRoutes: Sendable {
    let team: TeamService
    let attempts: PasswordLimits
    let passwords: PasswordWork

    func add(to pages: ConsolePages) {
        pages.get("account") { _, context in
            page(context, try context.requiredMember)
        }
        pages.post("account/password", .view) { request, context in
            let member = try await confirmed(request, context) { $0 }
            let password = try NewPassword.read(context.form, of: member)
            let network = context.service.clientNetwork(of: request)
            let hash = try await passwords.run(for: network, isKnown: true) { try team.passwords.hash(password) }
            try await team.setPasswordHash(hash, of: member)
            // All sessions have ended, this one too.
            return ConsolePath("log-in")
        }
        pages.post("account/codes", .view) { request, context in
            let (text, code) = (Array(try context.form.text("secret").utf8), try context.form.text("code"))
            guard let secret = Base64.decode(text[...], .urlSafe),
                secret.count == OneTimeCode.secretLength
            else { throw ConsoleForm.invalid("secret", "the secret that the page shows") }
            try await confirmed(request, context) { try await team.setCodeSecret(secret, of: $0, confirmedBy: code) }
            return ConsolePath("account", done: .saved)
        }
        pages.post("account/codes/off", .view) { request, context in
            let code = try context.form.text("code")
            try await confirmed(request, context) { try await team.setCodeSecret(nil, of: $0, confirmedBy: code) }
            return ConsolePath("account", done: .saved)
        }
    }

    /// Performs an action of the member after the password in the form was confirmed. A wrong password or code uses up an attempt.
    private func confirmed<Value>(
        _ request: Request,
        _ context: ConsoleContext,
        _ action: (TeamMember) async throws -> Value
    ) async throws -> Value {
        let member = try context.requiredMember
        let password = try context.form.password("password")
        let network = context.service.clientNetwork(of: request)
        return try await attempts.attempt(member.name, from: network) {
            let isRight = try await passwords.run(for: network, isKnown: true) {
                try team.passwords.matches(password, member.passwordHash)
            }
            guard isRight else { throw CredentialError.passwordWrong }
            return try await action(member)
        }
    }
    private func page(_ context: ConsoleContext, _ member: TeamMember) -> Page {
        Page("Password and codes") {
            card("Another password", isNarrow: true) {
                context.form(to: ConsolePath("account", "password")) {
                    Field.password("password", "Present password", autocomplete: "current-password")
                    NewPassword.fields
                    button(.class("primary")) { "Change the password" }
                    note("You will be logged out everywhere.")
                }
            }
            card("Codes of an authenticator app", isNarrow: true) {
                if member.codeSecret == nil {
                    // A secret that is stored if the member confirms it with a code.
                    let secret = team.newCodeSecret()
                    context.form(to: ConsolePath("account", "codes")) {
                        p { "Add this secret to an authenticator app (time-based, six digits), then type its code." }
                        p { code(.class("secret")) { plain(OneTimeCode.text(of: secret)) } }
                        hidden("secret", Base64.encode(secret, .urlSafe))
                        Self.confirmation
                        button(.class("primary")) { "Require codes" }
                    }
                } else {
                    context.form(to: ConsolePath("account", "codes", "off")) {
                        p { "A log-in needs a code." }
                        Self.confirmation
                        button(.class("danger")) { "Require no codes" }
                    }
                }
            }
        }
    }

    @HTMLBuilder private static var confirmation: HTML {
        labelled("codes-password", "Password") {
            input(
                .type("password"), .id("codes-password"), .name("password"), .required,
                HTMLAttribute("autocomplete", "current-password"))
        }
        Field.text("code", "Code", autocomplete: "one-time-code", inputMode: "numeric", isRequired: true)
    }
}
