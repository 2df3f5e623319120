import Features
import Foundation
import HTTPSupport
import Hummingbird
import Proofs

/// The pages on which members change their own password and codes.
struct AccountRoutes: Sendable {
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
            let hash = try await passwords.run { try team.passwords.hash(password) }
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
        return try await attempts.attempt(member.name, from: context.service.clientAddress(of: request)) {
            guard try await passwords.run({ try team.passwords.matches(password, member.passwordHash) }) else {
                throw CredentialError.passwordWrong
            }
            return try await action(member)
        }
    }
    /// The page of a member's own password and codes.
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
                        input(.type("hidden"), .name("secret"), .value(Base64.encode(secret, .urlSafe)))
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
        div(.class("field")) {
            label(.for("codes-password")) { "Password" }
            input(
                .type("password"), .id("codes-password"), .name("password"), .required,
                HTMLAttribute("autocomplete", "current-password"))
        }
        Field.text("code", "Code", autocomplete: "one-time-code", inputMode: "numeric", isRequired: true)
    }
}
