import Proofs

/// The time of the store's clock, or of an account's.
package struct ClockAnswer: AnswerObject {
    package static let answerFields = AnswerFields<Self>("The time of a clock.", named: "Time") {
        $0.field("now", .time("The time."), \.now.rfc3339)
        $0.field(
            "millisecondsSince1970", "The same time with its milliseconds, as signed data has it.",
            \.now.millisecondsSince1970)
        $0.field(
            "accounts", "The accounts with their own time; only in the answer to a read of the store's.", \.accounts)
        $0.field("events", "The events that an advance brought about.", \.events)
    }

    package let now: Timestamp
    /// The accounts with their own time; nil except for a read of the store's.
    let accounts: [AccountTime]?
    /// The events that an advance of the clock brought about; nil without an advance.
    let events: [DueEvent]?

    package init(now: Timestamp, accounts: [AccountTime]? = nil, events: [DueEvent]? = nil) {
        (self.now, self.accounts, self.events) = (now, accounts, events)
    }
}

extension AccountTime: AnswerObject {
    package static let answerFields = AnswerFields<Self>("An account with its own time.", named: "AccountTime") {
        $0.field("account", "The account at the store.", \.account)
        $0.field("now", .time("The time."), \.now.rfc3339)
    }
}

extension DueEvent: AnswerObject {
    package static let answerFields = AnswerFields<Self>(
        "A change of a subscription that time brought about.", named: "DueEvent"
    ) {
        $0.field("kind", .one(of: DueEvent.Kind.self, "The change."), \.kind.rawValue)
        $0.field("date", .time("The date."), \.date.rfc3339)
        $0.field("account", "The account at the store.", \.account)
        $0.field("productId", "The product.", \.productIdentifier)
        $0.field("transactionId", "The latest transaction.", \.transactionIdentifier)
    }
}

/// The routes of time, which every local store has.
extension APIOperation {
    package static let readTime = sandbox(
        .get, "time", "readTime", "Reads the store's time, or an account's",
        parameters: [.query("account", "The account whose time is read; the store's without it.")],
        answers: [.json("The time.", ClockAnswer.self)], or: [.notFound, .refused])
    package static let advanceTime = sandbox(
        .post, "time/advance", "advanceTime",
        "Advances the store's time, or an account's; everything that is due happens",
        body: .json(TimeAdvanceRequest.schema), answers: [.json("The time.", ClockAnswer.self)],
        or: [.notFound, .conflict, .refused])
}
