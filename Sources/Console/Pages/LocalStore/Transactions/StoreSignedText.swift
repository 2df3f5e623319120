/// A signed text with a button that copies it.
struct StoreSignedText {
    let title: Phrase
    /// The identifier of the text on the page.
    let identifier: String
    let text: String

    var html: HTML {
        details(.class("action")) {
            summary { title }
            button(.type("button"), HTMLAttribute("data-copy", identifier)) { Phrase("Copy", "복사") }
            pre(.id(identifier), HTMLAttribute("tabindex", "0")) { plain(text) }
        }
    }
}
