/// A table of a page, with a sentence for an empty one and a link to the next page.
enum Listing {
    /// - Parameters:
    ///   - caption: The title of the table, for screen readers also where the page shows none.
    ///   - columns: The titles of the columns.
    ///   - rows: The cells of each row.
    ///   - empty: The sentence for a table without rows.
    ///   - next: The address of the next page. Nil for the last one.
    static func table(
        _ caption: Phrase,
        columns: [Phrase],
        rows: [[HTML]],
        empty: Phrase,
        next: ConsolePath? = nil
    ) -> HTML {
        guard !rows.isEmpty else { return p(.class("empty")) { empty } }
        return HTML {
            div(.class("scroll"), .role("region"), HTMLAttribute("tabindex", "0"), .ariaLabel(caption)) {
                Console.table {
                    Console.caption(.class("hidden")) { caption }
                    thead { tr { for column in columns { th(.scope("col")) { column } } } }
                    tbody(.class("rows")) {
                        for row in rows { tr { for cell in row { td { cell } } } }
                    }
                }
            }
            if let next {
                p(.class("pager")) { a(.class("button"), .href(next)) { Phrase("Next page", "다음 페이지") } }
            }
        }
    }
}
