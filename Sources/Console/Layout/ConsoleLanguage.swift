/// A language of the console, by its tag (RFC 5646).
package enum ConsoleLanguage: String, Sendable, CaseIterable {
    case english = "en"
    case korean = "ko"

    /// The name of the language in the language itself.
    var ownName: String {
        switch self {
        case .english: "English"
        case .korean: "한국어"
        }
    }
}
