/// The building blocks of pages.

/// A part of a page in a frame, with its heading.
func card(_ title: Phrase, isNarrow: Bool = false, @HTMLBuilder content: () -> HTML) -> HTML {
    section(.class(isNarrow ? "card narrow" : "card")) {
        h2 { title }
        content()
    }
}

/// A part of a page, with its heading.
func part(_ title: Phrase, @HTMLBuilder content: () -> HTML) -> HTML {
    section {
        h2 { title }
        content()
    }
}

func note(_ phrase: Phrase) -> HTML { p(.class("note")) { phrase } }

/// The sentence for a part without content.
func emptyNote(_ phrase: Phrase) -> HTML { p(.class("empty")) { phrase } }

/// A form that chooses what the page shows: its fields and its button in a line.
///
/// - Parameter mark: An attribute by which the script finds the form.
func filters(
    _ path: ConsolePath, submit: Phrase = "Show", _ mark: HTMLAttribute? = nil, @HTMLBuilder fields: () -> HTML
) -> HTML {
    form(.class("actions"), .method("get"), .action(path), mark) {
        fields()
        button { submit }
    }
}

/// A field that a form sends and does not show. Nothing without a value.
@HTMLBuilder func hidden(_ name: String, _ value: String?) -> HTML {
    if let value { input(.type("hidden"), .name(name), .value(value)) }
}

/// A control of a form below its label.
///
/// - Parameters:
///   - identifier: The identifier of the control.
///   - note: The explanation of the control, whose identifier is that of the control with `-note`.
func labelled(
    _ identifier: String, _ title: Phrase, note: Phrase? = nil, @HTMLBuilder control: () -> HTML
) -> HTML {
    div(.class("field")) {
        label(.for(identifier)) { title }
        control()
        if let note { small(.id(identifier + "-note")) { note } }
    }
}

/// A part of a line: HTML or a phrase.
protocol HTMLPart {
    var nodes: [HTML.Node] { get }
}

extension HTML: HTMLPart {}
extension Phrase: HTMLPart {
    var nodes: [HTML.Node] { [.phrase(self)] }
}

/// Parts of a line with a text between them, also beside a part that is nil.
func spaced(by separator: String = " ", _ parts: (any HTMLPart)?...) -> HTML { spaced(by: separator, parts) }

func spaced(by separator: String = " ", _ parts: [(any HTMLPart)?]) -> HTML {
    HTML(nodes: Array(parts.map { $0?.nodes ?? [] }.joined(separator: [.text(separator)])))
}

/// A further part of a line, with the text before it, also before a part that is nil.
func also(_ part: (any HTMLPart)?, by separator: String = " ") -> HTML {
    HTML(nodes: [.text(separator)] + (part?.nodes ?? []))
}

extension ConsoleContext {
    /// The effect of a button, which its color shows.
    enum Button: String {
        case primary
        /// Removes something.
        case danger
        case plain
    }

    /// A form that changes something, with the token against forgery.
    func form(to path: ConsolePath, _ attributes: HTMLAttribute?..., @HTMLBuilder content: () -> HTML) -> HTML {
        Console.form([.method("post"), .action(path)] + attributes.compactMap(\.self)) {
            hidden(ConsoleForm.tokenField, formToken)
            content()
        }
    }

    /// A form that opens from its title, and is sent with one button.
    ///
    /// - Parameter content: The fields, or an explanation.
    func action(
        _ title: Phrase, to path: ConsolePath, submit: Phrase, _ style: Button = .primary, isOpen: Bool = false,
        _ attribute: HTMLAttribute? = nil, @HTMLBuilder content: () -> HTML = { HTML() }
    ) -> HTML {
        details(.class(style == .danger ? "action danger" : "action"), isOpen ? .open : nil) {
            summary { title }
            form(to: path, attribute) {
                content()
                button(style == .plain ? nil : .class(style.rawValue)) { submit }
            }
        }
    }
}

struct Fact {
    let name: HTML
    let value: HTML
}

/// A fact of a list. A dash stands for an empty value.
func fact(_ name: Phrase, @HTMLBuilder value: () -> HTML) -> Fact {
    let value = value()
    return Fact(name: HTML { name }, value: value.isEmpty ? Shown.nothing : value)
}

/// The builder of a list, such as the facts of a list or the columns of a table.
@resultBuilder enum ListBuilder<Element> {
    static func buildExpression(_ element: Element) -> [Element] { [element] }
    static func buildBlock(_ parts: [Element]...) -> [Element] { parts.flatMap(\.self) }
    static func buildOptional(_ part: [Element]?) -> [Element] { part ?? [] }
    static func buildEither(first part: [Element]) -> [Element] { part }
    static func buildEither(second part: [Element]) -> [Element] { part }
    static func buildArray(_ parts: [[Element]]) -> [Element] { parts.flatMap(\.self) }
}

typealias FactsBuilder = ListBuilder<Fact>

enum Facts {
    /// - Parameter style: The class of the list: `line` for facts beside each other.
    static func list(_ facts: [Fact], _ style: String = "facts") -> HTML {
        dl(.class(style)) {
            for fact in facts {
                div {
                    dt { fact.name }
                    dd { fact.value }
                }
            }
        }
    }

    static func list(@FactsBuilder _ facts: () -> [Fact]) -> HTML { list(facts()) }

    /// A list in a frame.
    static func card(_ title: Phrase? = nil, @FactsBuilder _ facts: () -> [Fact]) -> HTML {
        section(.class("card")) {
            title.map { title in h2 { title } }
            list(facts())
        }
    }
}

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
