import Commerce

/// The page of a one-time link, which sets a password.
struct InvitationPage {
    let context: ConsoleContext
    let secret: String
    let name: String

    var page: Page {
        Page(Phrase("Choose a password", "비밀번호 만들기")) {
            p {
                Phrase("The link is for", "이 링크의 사용자:")
                plain(" ")
                data(name)
                plain(".")
            }
            context.form(to: ConsolePath("invitation", secret), .class("card narrow")) {
                input(.type("hidden"), .name("name"), .value(name), HTMLAttribute("autocomplete", "username"))
                Field.newPassword
                button(.class("primary")) { Phrase("Set the password", "비밀번호 설정") }
            }
        }
    }
}
