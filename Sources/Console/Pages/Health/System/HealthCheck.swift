/// The result of a check of the installation.
public struct HealthCheck: Sendable {
    public enum State: Sendable {
        case passed
        /// A remark, with an optional action.
        case note
        case problem
    }

    let subject: Phrase
    let state: State
    let detail: Phrase
    /// The next step; nil if none is needed.
    let remedy: Phrase?

    public init(subject: Phrase, state: State, detail: Phrase, remedy: Phrase?) {
        self.subject = subject
        self.state = state
        self.detail = detail
        self.remedy = remedy
    }
}
