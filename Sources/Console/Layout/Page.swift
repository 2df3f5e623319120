import Entitlements
import Features
import HTTPSupport
import Hummingbird
import Proofs
import Vocabulary

/// A page of the console: the content of `main`, and what the layout shows around it.
struct Page: Sendable {
    let title: Phrase
    /// The entry of the navigation that the page belongs to. Nil on pages for visitors.
    var section: ConsoleSection?
    /// The part with the `h1`, if it is more than the title.
    let heading: HTML?
    let content: HTML

    init(
        _ title: Phrase, section: ConsoleSection? = nil, heading: HTML? = nil, @HTMLBuilder content: () -> HTML
    ) {
        self.title = title
        self.section = section
        self.heading = heading
        self.content = content()
    }

    func response(_ context: ConsoleContext, status: HTTPResponse.Status = .ok) -> Response {
        let text = "<!DOCTYPE html>\n" + html(context).render(context.language)
        return .text(text, type: "text/html", status: status)
    }

    /// The page in its frame: head, navigation, the member's menu, and the footer.
    private func html(_ context: ConsoleContext) -> HTML {
        Console.html(HTMLAttribute("lang", context.language.rawValue)) {
            head {
                meta(HTMLAttribute("charset", "utf-8"))
                meta(.name("viewport"), HTMLAttribute("content", "width=device-width, initial-scale=1"))
                meta(.name("color-scheme"), HTMLAttribute("content", "light dark"))
                Console.title { "\(title) · Till" }
                link(HTMLAttribute("rel", "icon"), .href(ConsolePath("assets", "icon.svg")))
                link(HTMLAttribute("rel", "stylesheet"), .href(ConsolePath("assets", "console.css")))
                script(.type("module"), .src(ConsolePath("assets", "console.js"))) {}
            }
            body {
                a(.class("skip"), .href(fragment: "main")) { "Skip to content" }
                Self.top(context)
                if context.member != nil { Self.navigation(context, present: section) }
                main(.id("main"), HTMLAttribute("tabindex", "-1")) {
                    heading ?? h1 { title }
                    if let notice = context.notice {
                        p(.class("notice"), .role("status")) { notice.sentence }
                    }
                    content
                    if context.member != nil {
                        p(.class("note")) { spaced(by: ": ", Phrase("Time zone"), span(.class("zone"), plain("UTC"))) }
                    }
                }
            }
        }
    }

    /// The entries in groups. On a phone, they are a panel that opens from the button in the header.
    private static func navigation(_ context: ConsoleContext, present: ConsoleSection?) -> HTML {
        nav(.class("sections"), .id("sections"), HTMLAttribute("popover"), .ariaLabel("Sections")) {
            for (number, group) in ConsoleSection.groups.enumerated() {
                p(.id("sections-\(number)")) { group.title }
                ul(HTMLAttribute("aria-labelledby", "sections-\(number)")) {
                    for each in group.sections where context.sections.contains(each) {
                        li(each.isSecondary ? .class("secondary") : nil) {
                            a(.href(each.path), each == present ? HTMLAttribute("aria-current", "page") : nil) {
                                Shown.icon(each.rawValue)
                                each.tab.title
                            }
                        }
                    }
                }
            }
        }
    }

    private static func top(_ context: ConsoleContext) -> HTML {
        header(.class("top")) {
            if context.member != nil {
                button(
                    .type("button"), .class("opener"), HTMLAttribute("popovertarget", "sections"), .ariaLabel("Menu")
                ) { Shown.icon("menu") }
            }
            a(.class("brand"), .href(ConsolePath())) { plain("Till") }
            if let member = context.member {
                form(.class("search"), .role("search"), .method("get"), .action(ConsolePath("customers"))) {
                    label(.class("hidden"), .for("search")) { "Search customers" }
                    input(
                        .type("search"), .id("search"), .name("search"), HTMLAttribute("maxlength", "256"),
                        .placeholder("User, transaction, order … ( / )"))
                }
                details(.class("menu")) {
                    summary { data(member.name) }
                    div(.class("panel")) {
                        p(.class("note")) { member.role.title }
                        p { a(.href(ConsolePath("account"))) { "Password and codes" } }
                        context.form(to: ConsolePath("log-out")) { button { "Log out" } }
                    }
                }
            }
            // The token of a form follows from the cookie, which an error before the session lacks.
            if !context.cookie.isEmpty { languages(context) }
        }
    }

    /// A button for each other language, which leads back to the page.
    private static func languages(_ context: ConsoleContext) -> HTML {
        context.form(to: ConsolePath("language"), .class("languages")) {
            hidden("page", context.page?.text)
            for language in ConsoleLanguage.allCases where language != context.language {
                button(
                    .name("language"), .value(language.rawValue), .class("plain"),
                    HTMLAttribute("lang", language.rawValue)
                ) { plain(language.ownName) }
            }
        }
    }

    /// The page of an error. Its code is the one of the API, which `/errors` explains.
    ///
    /// - Parameter sentence: The sentence of the error in each language. Nil if there is only the English one.
    init(of problem: Problem, _ sentence: Phrase?, in language: ConsoleLanguage) {
        self.init(Self.title(of: problem)) {
            Self.box(problem, sentence, in: language)
            p { a(.href(ConsolePath())) { "Back to the console" } }
        }
    }

    /// The sentence of an error with its code.
    static func box(_ problem: Problem, _ sentence: Phrase?, in language: ConsoleLanguage) -> HTML {
        // The sentence of the API, which is in English.
        let detail = p(HTMLAttribute("lang", "en")) { plain(problem.detail) }
        return div(.class("problem"), .role("alert"), .id("problem")) {
            if language == .korean, let sentence {
                p { sentence }
                if ErrorSentences.needsDetail(problem) { detail }
            } else {
                detail
                if let explanation = RefusalRemedy(code: problem.code) {
                    p { explanation.causePhrase }
                    p { explanation.remedyPhrase }
                }
            }
            p(.class("note")) {
                "Code"; plain(": "); code { plain(problem.code) }
            }
        }
    }

    private static func title(of problem: Problem) -> Phrase {
        switch problem.status {
        case 401: "Log in again"
        case 403: "Not allowed"
        case 404: "Not found"
        case 429: "Too many attempts"
        case 500...: "The service failed"
        default: "This cannot be done"
        }
    }
}

/// Links between the pages of a section or the views of a page.
enum Tabs {
    /// - Parameter label: The title for screen readers.
    static func list(_ label: Phrase, @HTMLBuilder _ links: () -> HTML) -> HTML {
        nav(.class("tabs"), .ariaLabel(label)) { links() }
    }

    /// A link for each of some values.
    ///
    /// - Parameter present: The value that the page shows; nil for a page below those of the values.
    static func choices<Value: Equatable>(
        _ label: Phrase, _ values: [Value], present: Value?, title: (Value) -> Phrase, path: (Value) -> ConsolePath
    ) -> HTML {
        list(label) { for each in values { link(title(each), to: path(each), isPresent: each == present) } }
    }

    /// A link for each of the pages of a section.
    static func pages(_ label: Phrase, _ tabs: [Tab], present: Tab?) -> HTML {
        choices(label, tabs, present: present, title: \.title, path: \.path)
    }

    /// - Parameter isPresent: True for the page that shows the links.
    static func link(_ title: Phrase, to path: ConsolePath, isPresent: Bool) -> HTML {
        a(.href(path), isPresent ? HTMLAttribute("aria-current", "page") : nil) { title }
    }
}

/// A page of a section, which all pages of the section link to.
struct Tab: Hashable, Sendable {
    let title: Phrase
    let path: ConsolePath

    init(_ title: Phrase, _ segments: String...) {
        self.title = title
        path = ConsolePath(segments)
    }
}

/// The sentences of errors in each language. The English ones are those of the API, which name the values of the case.
package enum ErrorSentences {
    /// The sentence of a problem in each language. Nil if there is only the English one.
    package static func phrase(of problem: Problem) -> Phrase? {
        (problem.korean ?? KoreanCatalog.texts["\(problem.code) [error]"]).map {
            Phrase(english: problem.detail, korean: $0)
        }
    }

    /// The sentence of an error in each language. Nil if there is only the English one.
    static func phrase(of error: any Error, as problem: Problem) -> Phrase? {
        guard let error = error as? CatalogChangeError else { return phrase(of: problem) }
        let sentence = error.sentence
        // Rare reasons are in English only.
        return sentence.korean.hasSameBytes(as: sentence.english)
            ? nil : Phrase(english: problem.detail, korean: sentence.korean)
    }

    /// True if only the English sentence has the reason, such as the rule of a field. A page then shows both.
    static func needsDetail(_ problem: Problem) -> Bool {
        problem.hasReason || codesWithReason.contains(problem.code)
    }

    /// The codes of requests whose English sentence has the reason, such as the rule of a field.
    private static let codesWithReason: Set = ["fieldInvalid", "formInvalid", "methodNotAllowed", "parameterInvalid"]
}

extension RefusalRemedy {
    var causePhrase: Phrase { Phrase(english: cause, korean: korean.cause) }
    var remedyPhrase: Phrase { Phrase(english: remedy, korean: korean.remedy) }
}
