import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The pages on which members change their own password and codes.
struct AccountRoutes: Sendable {
    let team: TeamService
    let attempts: LogInAttempts
    let passwords: PasswordWork

    func add(to pages: ConsolePages) {
        pages.get("account") { _, context in
            AccountPage(context: context, member: try context.requiredMember, newSecret: team.newCodeSecret()).page
        }
        pages.post("account/password", .view) { request, context in
            let member = try await confirmed(request, context) { $0 }
            let password = try NewPassword.read(context.form, of: member)
            let hash = try await passwords.run { try team.hash(password) }
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
            return ConsolePath("account", query: ["done": Notice.saved.rawValue])
        }
        pages.post("account/codes/off", .view) { request, context in
            let code = try context.form.text("code")
            try await confirmed(request, context) { try await team.setCodeSecret(nil, of: $0, confirmedBy: code) }
            return ConsolePath("account", query: ["done": Notice.saved.rawValue])
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
        return try await attempts.run(member.name, from: context.service.clientAddress(of: request)) {
            guard try await passwords.run({ try team.isPassword(password, of: member) }) else {
                throw TeamError.passwordWrong
            }
            return try await action(member)
        }
    }
}
