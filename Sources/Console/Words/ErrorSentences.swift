import Features
import HTTPSupport
import Proofs

/// The sentences of errors in each language. The English ones are those of the API, which name the values of the case.
package enum ErrorSentences {
    /// The sentence of a problem in each language. Nil if there is only the English one.
    package static func phrase(of problem: Problem) -> Phrase? {
        (problem.korean ?? KoreanCatalog.texts["\(problem.code) [error]"]).map {
            Phrase(english: problem.detail, korean: $0)
        }
    }

    /// The sentence of an error in each language. Nil if there is only the English one.
    ///
    /// - Parameter problem: The problem of the error.
    static func phrase(of error: any Error, as problem: Problem) -> Phrase? {
        guard let error = error as? CatalogChangeError else { return phrase(of: problem) }
        let sentence = error.sentence
        // Rare reasons are in English only.
        return sentence.korean.hasSameBytes(as: sentence.english)
            ? nil : Phrase(english: problem.detail, korean: sentence.korean)
    }

    /// True if only the English sentence has the reason, such as the rule of a field. A page then shows both.
    static func needsDetail(_ problem: Problem) -> Bool {
        problem.hasReason || codesWithReason.contains(problem.code)
    }

    /// The codes of requests whose English sentence has the reason, such as the rule of a field.
    private static let codesWithReason: Set = ["fieldInvalid", "formInvalid", "methodNotAllowed", "parameterInvalid"]
}

/// The cause of a refusal and its remedy, in each language.
struct RefusalExplanation {
    let cause: Phrase
    let remedy: Phrase

    /// - Returns: Nil for a code that is no refusal of a proof or a purchase.
    init?(code: String) {
        guard let refusal = RefusalRemedy(code: code) else { return nil }
        cause = Phrase(english: refusal.cause, korean: refusal.korean.cause)
        remedy = Phrase(english: refusal.remedy, korean: refusal.korean.remedy)
    }
}
