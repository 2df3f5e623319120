import Features

/// The frame around a page: head, navigation, the member's menu, and the footer.
struct Layout {
    let page: Page
    let context: ConsoleContext

    var html: HTML {
        Console.html(HTMLAttribute("lang", context.language.rawValue)) {
            head {
                meta(HTMLAttribute("charset", "utf-8"))
                meta(.name("viewport"), HTMLAttribute("content", "width=device-width, initial-scale=1"))
                meta(.name("color-scheme"), HTMLAttribute("content", "light dark"))
                Console.title { Phrase(page.title.english + " · Till", page.title.korean + " · Till") }
                link(HTMLAttribute("rel", "icon"), .href(ConsolePath("assets", "icon.svg")))
                link(HTMLAttribute("rel", "stylesheet"), .href(ConsolePath("assets", "console.css")))
                script(.type("module"), .src(ConsolePath("assets", "console.js"))) {}
            }
            body {
                a(.class("skip"), .href(fragment: "main")) { Phrase("Skip to content", "본문으로 건너뛰기") }
                top
                if let member = context.member { navigation(member) }
                main(.id("main"), HTMLAttribute("tabindex", "-1")) {
                    h1 { page.title }
                    if let notice = context.notice {
                        p(.class("notice"), .role("status")) { notice.sentence }
                    }
                    page.content
                }
            }
        }
    }

    private var top: HTML {
        header(.class("top")) {
            a(.class("brand"), .href(ConsolePath())) { plain("Till") }
            if let member = context.member {
                form(.class("search"), .role("search"), .method("get"), .action(ConsolePath("customers"))) {
                    label(.class("hidden"), .for("search")) { Phrase("Search customers", "고객 검색") }
                    input(
                        .type("search"), .id("search"), .name("search"), HTMLAttribute("maxlength", "256"),
                        .placeholder(Phrase("User, transaction, order … ( / )", "사용자, 거래, 주문 … ( / )")))
                }
                details(.class("menu")) {
                    summary { data(member.name) }
                    div(.class("panel")) {
                        p(.class("note")) { member.role.title }
                        p { a(.href(ConsolePath("account"))) { Phrase("Password and codes", "비밀번호와 코드") } }
                        context.form(to: ConsolePath("log-out")) {
                            button { Phrase("Log out", "로그아웃") }
                        }
                    }
                }
            }
            // The token of a form follows from the cookie, which an error before the session lacks.
            if !context.cookie.isEmpty { languages }
        }
    }

    /// A button for each other language, which leads back to the page.
    private var languages: HTML {
        context.form(to: ConsolePath("language"), .class("languages")) {
            if let page = context.page { input(.type("hidden"), .name("page"), .value(page.text)) }
            for language in ConsoleLanguage.allCases where language != context.language {
                button(
                    .name("language"), .value(language.rawValue), .class("plain"),
                    HTMLAttribute("lang", language.rawValue)
                ) { plain(language.ownName) }
            }
        }
    }

    private func navigation(_ member: TeamMember) -> HTML {
        nav(.class("sections"), .ariaLabel(Phrase("Sections", "구역"))) {
            ul {
                for section in context.sections {
                    li {
                        a(
                            .href(section.path),
                            section == page.section ? HTMLAttribute("aria-current", "page") : nil
                        ) { section.title }
                    }
                }
            }
        }
    }
}

extension TeamRole {
    /// The role for people.
    var title: Phrase {
        switch self {
        case .viewer: Phrase("Viewer", "조회")
        case .support: Phrase("Support", "고객 지원")
        case .catalog: Phrase("Catalog", "상품 관리")
        case .admin: Phrase("Administrator", "관리자")
        }
    }
}

extension ConsoleContext {
    /// A form that changes something, with the token against forgery.
    func form(to path: ConsolePath, _ attributes: HTMLAttribute..., @HTMLBuilder content: () -> HTML) -> HTML {
        Console.form([.method("post"), .action(path)] + attributes) {
            input(.type("hidden"), .name(ConsoleForm.tokenField), .value(formToken))
            content()
        }
    }
}
