/// A text of the console in each of its languages.
package struct Phrase: Hashable, Sendable {
    package let english: String
    package let korean: String

    package init(_ english: String, _ korean: String) {
        self.english = english
        self.korean = korean
    }

    /// A text that is the same in all languages, such as an identifier of the App Store.
    package init(same text: String) {
        english = text
        korean = text
    }

    func text(in language: ConsoleLanguage) -> String {
        switch language {
        case .english: english
        case .korean: korean
        }
    }
}
