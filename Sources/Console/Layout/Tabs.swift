/// Links between the pages of a section or the views of a page.
enum Tabs {
    /// - Parameter label: The title for screen readers.
    static func list(_ label: Phrase, @HTMLBuilder _ links: () -> HTML) -> HTML {
        nav(.class("tabs"), .ariaLabel(label)) { links() }
    }

    /// - Parameter isPresent: True for the page that shows the links.
    static func link(_ title: Phrase, to path: ConsolePath, isPresent: Bool) -> HTML {
        a(.href(path), isPresent ? HTMLAttribute("aria-current", "page") : nil) { title }
    }
}
