import Features
import Proofs

/// The page that shows the one-time link of a member, once.
struct LinkPage {
    let context: ConsoleContext
    let name: String
    let link: String
    /// True if the member was just added.
    let isNew: Bool

    var page: Page {
        Page(isNew ? Phrase("Member added", "구성원을 추가했습니다") : Phrase("New link", "새 링크"), section: .team) {
            section(.class("card")) {
                p(.role("status")) {
                    Phrase("Send this link to", "이 링크를 받을 사람:")
                    plain(" ")
                    data(name)
                    plain(".")
                }
                p { code(.class("secret"), .id("link")) { plain(link) } }
                div(.class("actions")) {
                    Shown.copyButton(for: "link")
                }
                p(.class("note")) {
                    Phrase(
                        "The link sets a password once, within three days. It is not shown again.",
                        "링크는 사흘 안에 비밀번호를 한 번 정할 수 있습니다. 다시 표시되지 않습니다.")
                }
                p { a(.href(ConsolePath("team"))) { Phrase("Back to the team", "팀으로 돌아가기") } }
            }
        }
    }
}
