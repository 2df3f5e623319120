import Testing

/// A store of the tests alone against the table: the heart knows no line of it.
@Suite struct AcmeTableTests {
    @Test(arguments: CommonCases.all + AcmeCases.all)
    func `each surface says what acme says`(_ row: TableRow) async throws { try await row.check(.acme) }
}

/// The rows that only acme has.
enum AcmeCases {
    static let all: [TableRow] = [askedAbout, paidBackInPart, paused, resumed]

    private struct NotAcme: Error {}

    private static func row(
        _ name: String, _ page: String, _ play: @Sendable @escaping (AcmeTableStore) async throws -> Void,
        _ cells: TableRow.Cells
    ) -> TableRow {
        TableRow(
            name: name, pages: [.acme: page],
            play: { store in
                guard let store = store as? AcmeTableStore else { throw NotAcme() }
                try await play(store)
            }, cells: cells)
    }

    static let askedAbout = row(
        "renewed, and the message is lost", "AcmeStatement: what it says last counts",
        { store in
            let sold = try await store.subscribe("alice")
            try await store.renewInSilence(sold)
            try await store.ask(sold)
            try store.wait(until: "04-03")
        }, CommonCases.renewed.cells)

    private static let pausedEvents =
        "INITIAL_PURCHASE <basic> NORMAL 5, SUBSCRIPTION_PAUSED <basic> NORMAL 0, EXPIRATION/SUBSCRIPTION_PAUSED <basic> NORMAL 0"

    static let paused = row(
        "paused", "AcmeStatement.Next.paused: the customer pauses after the last charge",
        { store in
            let sold = try await store.subscribe("alice")
            try await store.pause(sold, until: try Day.moment("05-01"))
            try store.wait(until: "04-03")
        },
        [
            .items: "nothing", .subscriptions: "basic paused*", .why: "plus 1 paused",
            .story: "granted, paused until 05-01", .webhooks: "subscription.purchased, subscription.paused",
            .revenueCat: .init(pausedEvents), .customerInfo: "<basic> normal until 04-01 resumes 05-01",
            .figures: "revenue 5000{, churn 1|}",
        ])

    static let resumed = row(
        "paused and resumed", "AcmeStatement.Next.paused: acme charges again at the end of the pause",
        { store in
            let sold = try await store.subscribe("alice")
            try await store.pause(sold, until: try Day.moment("05-01"))
            try store.wait(until: "05-01")
            try await store.recover(sold)
            try store.wait(until: "05-03")
        },
        [
            .items: "plus 1 active until 06-01 renews", .subscriptions: "basic active until 06-01 renews",
            .why: "plus 1 owned", .story: "granted, paused until 05-01, granted",
            .webhooks: "subscription.purchased, subscription.paused, subscription.resumed",
            .revenueCat: .init("\(pausedEvents), RENEWAL <basic> NORMAL 5"),
            .customerInfo: "<basic> normal until 06-01, has gardener",
            .figures: "revenue 10000, active-subscriptions 1, mrr 5000{, churn 1|}",
        ])

    static let paidBackInPart = row(
        "half paid back, with the goods", "AcmeStatement.Charge.PaidBack: takesGoods",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.payHalfBack(sold)
            try store.wait(until: "03-13")
        },
        [
            .items: "plus 1 active until 04-01 renews", .subscriptions: "basic active until 04-01 renews",
            .why: "plus 1 owned", .story: "granted, paymentRefunded",
            .webhooks: "subscription.purchased, purchase.refunded",
            .figures: "revenue 5000, refunds 1, refunded-revenue 2500, active-subscriptions 1, mrr 5000",
        ])
}
