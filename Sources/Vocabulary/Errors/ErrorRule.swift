import Proofs

/// Everything that Till says about one error: problem documents, messages, the console and the doors read it.
package struct ErrorRule: Sendable {
    /// The class of an error, which decides its HTTP status.
    package enum Kind: Sendable {
        case badRequest, unauthorized, forbidden, notFound, conflict, tooLarge, unprocessable, tooManyRequests
        case failed, badGateway, unavailable
    }

    /// The stable code in camel case. It is the name of the case, unless the case is of several features.
    package let code: String
    package let kind: Kind
    /// True if the same request may succeed later although nobody changes anything: time passes, a limit is free again, an outage
    /// ends, or a store states something new.
    package private(set) var mayRetry: Bool
    /// The seconds before a retry; nil if unknown.
    package let secondsToWait: Int?
    /// True if the service's configuration causes the error. The same request succeeds after the operator has changed it.
    package let isOfOperator: Bool
    /// True if a purchase or another request may remove the cause. The refusal is then not kept for an idempotency key.
    package let isOfState: Bool
    /// True if only the English sentence has the reason. A page in Korean then shows both.
    package let hasReason: Bool
    /// The sentence: what is wrong, then what to do.
    package private(set) var sentence: String
    /// The sentence for callers of the service, who do not learn what only the operator may know.
    package private(set) var detail: String
    /// The sentence in Korean, for the console. Nil if the reason is in English only.
    package let korean: String?
    /// The remedy of a refusal for the team; nil for another error.
    package private(set) var remedy: RefusalRemedy?

    package init(
        _ code: String,
        _ kind: Kind,
        mayRetry: Bool = false,
        secondsToWait: Int? = nil,
        isOfOperator: Bool = false,
        isOfState: Bool = false,
        hasReason: Bool = false,
        _ sentence: String,
        detail: String? = nil,
        korean: String?
    ) {
        self.code = code
        self.kind = kind
        self.mayRetry = mayRetry
        self.secondsToWait = secondsToWait
        self.isOfOperator = isOfOperator
        self.isOfState = isOfState
        self.hasReason = hasReason
        self.sentence = sentence
        self.detail = detail ?? sentence
        self.korean = korean
    }

    /// The rule of a refused proof or purchase.
    init(
        _ code: String,
        _ kind: Kind,
        mayRetry: Bool = false,
        isOfOperator: Bool = false,
        hasReason: Bool = false,
        _ sentence: String,
        _ cause: String,
        _ remedy: String,
        korean: String,
        _ koreanRemedy: String
    ) {
        self.init(
            code, kind, mayRetry: mayRetry, isOfOperator: isOfOperator, hasReason: hasReason, sentence,
            korean: korean + " " + koreanRemedy)
        self.remedy = RefusalRemedy(cause: cause, remedy: remedy, korean: (korean, koreanRemedy))
    }

    /// The same rule with another sentence, such as one that names the values.
    package func stating(_ sentence: String) -> ErrorRule {
        var rule = self
        (rule.sentence, rule.detail) = (sentence, sentence)
        return rule
    }

    /// The same rule for a case that may succeed later, or not.
    func retrying(_ mayRetry: Bool) -> ErrorRule {
        var rule = self
        rule.mayRetry = mayRetry
        return rule
    }
}

/// The cause and the remedy of a refusal, for the team.
package struct RefusalRemedy: Sendable {
    package let cause: String
    package let remedy: String
    package let korean: (cause: String, remedy: String)
}

/// An error whose code, message, status and translation are those of its rule.
package protocol RuledError: CodedError {
    var rule: ErrorRule { get }
}

extension RuledError {
    package var code: String { rule.code }
    package var message: String { rule.sentence }
}
