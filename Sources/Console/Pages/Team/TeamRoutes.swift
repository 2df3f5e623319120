import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The pages on which administrators add, invite and remove members, and change their roles.
struct TeamRoutes: Sendable {
    static let name = Field.text(
        "name", "Name", upTo: TeamMember.maximumNameLength, isRequired: true, note: "The audit log shows it.")

    let services: any ConsoleServices

    var team: TeamService { services.team }

    func add(to pages: ConsolePages) {
        pages.get("team", .administer) { request, context in try await page(request, context) }
        pages.post("team/members", .administer) { request, context in
            let name = try context.form[Self.name]
            let secret = try await team.add(name, role: try role(context), by: try actor(context))
            return Self.page("Member added", name, secret, request)
        }
        pages.post("team/members/:name/invitation", .administer) { request, context in
            let name = try context.parameters.text("name")
            let secret = try await team.invite(name, by: try actor(context))
            return Self.page("New link", name, secret, request)
        }
        pages.post("team/members/:name/role", .administer) { _, context in
            let name = try context.parameters.text("name")
            try await team.setRole(try role(context), of: name, by: try actor(context))
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

    private func role(_ context: ConsoleContext) throws(Problem) -> TeamRole {
        guard let role = TeamRole(rawValue: try context.form.text("role")) else {
            throw ConsoleForm.invalid("role", "one of \(TeamRole.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return role
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
                p {
                    code(.class("secret"), .id("link")) {
                        plain(InvitationLink.text(secret, at: request.headers[.origin] ?? ""))
                    }
                }
                div(.class("actions")) { Shown.copyButton(for: "link") }
                note("The link sets a password once, within three days. It is not shown again.")
                p { a(.href(ConsolePath("team"))) { "Back to the team" } }
            }
        }
    }
}
