/// A table of a page, with a sentence for an empty one and a link to the next page.
///
/// ```swift
/// Listing.table("Settings", of: settings, empty: "There are no settings.") {
///     column("Setting") { Shown.identifier($0.name) }
///     column("Value") { data($0.value) }
/// }
/// ```
enum Listing {
    /// A column of a table: its title, and its cell in a row. A dash stands for an empty cell.
    struct Column<Row> {
        let title: Phrase
        let cell: (Row) -> HTML
    }

    /// - Parameters:
    ///   - caption: The title of the table, for screen readers also where the page shows none.
    ///   - empty: The sentence for a table without rows.
    ///   - next: The address of the next page, which a page without rows may have, too. Nil for the last one.
    static func table<Row>(
        _ caption: Phrase, of rows: [Row], empty: Phrase, next: ConsolePath? = nil,
        @ListBuilder<Column<Row>> columns: () -> [Column<Row>]
    ) -> HTML {
        let columns = columns()
        return HTML {
            if rows.isEmpty {
                emptyNote(empty)
            } else {
                frame(caption) {
                    for column in columns { th(.scope("col")) { column.title } }
                } rows: {
                    for row in rows {
                        tr {
                            for column in columns {
                                let cell = column.cell(row)
                                // On a phone, each row is a card whose cells have the titles of their columns.
                                td(HTMLAttribute("data-label", column.title)) { cell.isEmpty ? Shown.nothing : cell }
                            }
                        }
                    }
                }
            }
            pager(next)
        }
    }

    /// A table in a region that scrolls.
    ///
    /// - Parameter heads: The cells of the first row.
    static func frame(_ caption: Phrase, @HTMLBuilder heads: () -> HTML, @HTMLBuilder rows: () -> HTML) -> HTML {
        div(.class("scroll"), .role("region"), HTMLAttribute("tabindex", "0"), .ariaLabel(caption)) {
            Console.table {
                Console.caption(.class("hidden")) { caption }
                thead { tr { heads() } }
                tbody { rows() }
            }
        }
    }

    /// The link to the next page; nothing on the last one.
    @HTMLBuilder static func pager(_ next: ConsolePath?, _ title: Phrase = "Next page") -> HTML {
        if let next { p(.class("pager")) { a(.class("button"), .href(next)) { title } } }
    }
}

func column<Row>(_ title: Phrase, @HTMLBuilder cell: @escaping (Row) -> HTML) -> Listing.Column<Row> {
    Listing.Column(title: title, cell: cell)
}
