import Proofs

/// The cause and the remedy of a refusal.
struct RefusalNote {
    let code: String?
    /// The owner of the purchase; nil if there is none, or if it is the same user.
    let otherOwner: User?

    var html: HTML {
        HTML {
            if let words = code.flatMap({ RefusalExplanation(code: $0) }) {
                div { words.cause }
                div { words.remedy }
            } else if let code {
                div { Console.code { plain(code) } }
            }
            if let otherOwner {
                div {
                    Phrase("Owner", "가진 사용자"); plain(": ")
                    Shown.link(to: otherOwner)
                }
            }
        }
    }
}
