/// A text of the console in each of its languages.
public struct Phrase: Hashable, Sendable {
    public let english: String
    public let korean: String

    public init(_ english: String, _ korean: String) {
        self.english = english
        self.korean = korean
    }

    /// A text that is the same in all languages, such as an identifier of the App Store.
    public init(same text: String) {
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
