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
            AccountPage(context: context, member: try context.requiredMember, newSecret: team.newCodeSecret()).page
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
        return try await attempts.attempt(member.name, from: context.service.clientAddress(of: request)) {
            guard try await passwords.run({ try team.passwords.matches(password, member.passwordHash) }) else {
                throw CredentialError.passwordWrong
            }
            return try await action(member)
        }
    }
}

/// The page of a member's own password and codes.
struct AccountPage {
    let context: ConsoleContext
    let member: TeamMember
    /// A secret that is stored if the member confirms it with a code.
    let newSecret: [UInt8]

    var page: Page {
        Page(Phrase("Password and codes", "비밀번호와 코드")) {
            section(.class("card narrow")) {
                h2 { Phrase("Another password", "다른 비밀번호") }
                context.form(to: ConsolePath("account", "password")) {
                    Field.password(
                        "password", Phrase("Present password", "현재 비밀번호"), autocomplete: "current-password")
                    Field.newPassword
                    button(.class("primary")) { Phrase("Change the password", "비밀번호 변경") }
                    p(.class("note")) {
                        Phrase("You will be logged out everywhere.", "모든 곳에서 로그아웃됩니다.")
                    }
                }
            }
            section(.class("card narrow")) {
                h2 { Phrase("Codes of an authenticator app", "인증 앱 코드") }
                member.codeSecret == nil ? turnOn : turnOff
            }
        }
    }

    private var turnOn: HTML {
        context.form(to: ConsolePath("account", "codes")) {
            p {
                Phrase(
                    "Add this secret to an authenticator app (time-based, six digits), then type its code.",
                    "인증 앱에 이 비밀 값을 추가한 다음(시간 기반, 6자리) 코드를 입력하세요.")
            }
            p { code(.class("secret")) { plain(OneTimeCode.text(of: newSecret)) } }
            input(.type("hidden"), .name("secret"), .value(Base64.encode(newSecret, .urlSafe)))
            confirmation
            button(.class("primary")) { Phrase("Require codes", "코드 사용") }
        }
    }

    private var turnOff: HTML {
        context.form(to: ConsolePath("account", "codes", "off")) {
            p { Phrase("A log-in needs a code.", "로그인에 코드가 필요합니다.") }
            confirmation
            button(.class("danger")) { Phrase("Require no codes", "코드 사용 안 함") }
        }
    }

    private var confirmation: HTML {
        HTML {
            div(.class("field")) {
                label(.for("codes-password")) { Phrase("Password", "비밀번호") }
                input(
                    .type("password"), .id("codes-password"), .name("password"), .required,
                    HTMLAttribute("autocomplete", "current-password"))
            }
            Field.text(
                "code", Phrase("Code", "코드"), autocomplete: "one-time-code", inputMode: "numeric", isRequired: true)
        }
    }
}
