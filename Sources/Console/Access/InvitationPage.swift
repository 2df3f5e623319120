/// The page of a one-time link, which sets a password. The script fills in the code of the link.
struct InvitationPage {
    let context: ConsoleContext

    var page: Page {
        Page(Phrase("Choose a password", "비밀번호 만들기")) {
            context.form(to: InvitationLink.page, .class("card narrow")) {
                Field.text(
                    "code", Phrase("Code of your link", "링크의 코드"), autocomplete: "one-time-code",
                    maximumLength: ConsolePath.maximumLength, isRequired: true,
                    note: Phrase(
                        "If the field is empty, paste the part of your link after #.",
                        "비어 있으면 링크에서 # 뒤의 부분을 붙여 넣으세요."), HTMLAttribute("data-code"))
                Field.newPassword
                button(.class("primary")) { Phrase("Set the password", "비밀번호 설정") }
            }
        }
    }
}
