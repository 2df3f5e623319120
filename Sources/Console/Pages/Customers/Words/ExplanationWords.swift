import Features
import Proofs

/// An explanation of an item in both languages.
struct ExplanationWords {
    let explanation: ItemExplanation

    var sentence: Phrase { phrase(explanation.sentence, "explanation") }

    /// Nil if no remedy is needed.
    var remedy: Phrase? {
        explanation.remedy.map { english in
            guard explanation.cause == .refused else { return phrase(english, "remedy") }
            return Phrase(english: english, korean: refusal?.remedy.korean ?? english)
        }
    }

    /// A text of the explanation. Its Korean is in the catalog under the cause.
    private func phrase(_ english: String, _ kind: String) -> Phrase {
        let isOver = explanation.cause == .expected && explanation.reason != nil
        let cause = explanation.cause.rawValue + (isOver ? " before" : "")
        return Phrase(stated: english, key: "\(cause) [\(kind)]", values)
    }

    /// The values of the catalog's entries: products, end, reason, reason of the expiry, origin, cause of a refusal, and
    /// the day of the purchase.
    private var values: [String] {
        [
            explanation.products.map { CustomerWords.isolated($0) }.joined(separator: " 또는 "),
            (explanation.until.map { ", \(CustomerWords.day($0).korean)까지" } ?? "")
                + (explanation.renews ? ", 갱신됩니다" : ""),
            explanation.reason.map { ": \(CustomerWords.isolated($0))" } ?? ".",
            explanation.reason.flatMap { ExpirationReason(rawValue: $0) }.map {
                " (\(CustomerWords.reason($0).korean))"
            } ?? "",
            explanation.origin?.rawValue ?? "",
            refusal?.cause.korean ?? explanation.reason ?? "",
            explanation.since.map { CustomerWords.day($0).korean } ?? "",
        ]
    }

    private var refusal: RefusalExplanation? { explanation.reason.flatMap { RefusalExplanation(code: $0) } }
}
