/// An event of a live list, which the script shows.
package enum LiveEvent: Sendable {
    /// A new row at the top.
    case row(HTML)
    /// The script reloads the list.
    case change

    /// The event as text (HTML Standard section 9.2.6). A browser drops an event without data.
    package func text(in language: ConsoleLanguage) -> String {
        switch self {
        case .row(let html):
            // Each line of the data has its own field.
            let lines = html.render(language).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            return "event: row\n" + lines.map { "data: \($0)\n" }.joined() + "\n"
        case .change: return "event: change\ndata: {}\n\n"
        }
    }
}
