/// A signed text with a button that copies it.
struct StoreSignedText {
    let title: Phrase
    /// The identifier of the text on the page.
    let identifier: String
    let text: String

    var html: HTML {
        details(.class("action")) {
            summary { title }
            Shown.copyButton(for: identifier)
            pre(.id(identifier), HTMLAttribute("tabindex", "0")) { plain(text) }
        }
    }
}
