/// The page that asks for a name, a password and a code.
struct LogInPage {
    let context: ConsoleContext
    let next: ConsolePath

    var page: Page {
        Page(Phrase("Log in", "로그인")) {
            context.form(to: ConsolePath("log-in"), .class("card narrow")) {
                input(.type("hidden"), .name("next"), .value(next.text))
                Field.text("name", Phrase("Name", "이름"), autocomplete: "username", isRequired: true)
                Field.password("password", Phrase("Password", "비밀번호"), autocomplete: "current-password")
                Field.text(
                    "code", Phrase("Code of your authenticator app, if you use one", "인증 앱의 코드 (사용하는 경우)"),
                    autocomplete: "one-time-code", inputMode: "numeric")
                button(.class("primary")) { Phrase("Log in", "로그인") }
            }
            p(.class("note")) {
                Phrase(
                    "New here, or no password any more? Ask an administrator for a link:",
                    "처음이거나 비밀번호를 잊었나요? 관리자에게 링크를 요청하세요:")
                plain(" ")
                code { plain("till console invite NAME") }
            }
        }
    }
}
