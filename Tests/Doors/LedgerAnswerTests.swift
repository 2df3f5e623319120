import Entitlements
import Ledger
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The ledger reads what the rules say: the comparison of the surfaces holds for the same ledger.
@Suite struct LedgerAnswerTests {
    private static let origins: Set<Origin> = [.appleProduction]

    /// A ledger that takes the same statements and grants as the rules.
    private struct Book {
        // The folder lives as long as the ledger.
        private let folder: TemporaryFolder
        let ledger: Ledger
        let user: User
        private var taken = 0
        private var given: Set<String> = []
        private var revoked: Set<String> = []

        init() throws {
            folder = try TemporaryFolder(isInMemory: true)
            ledger = try Ledger(file: folder.file("ledger.sqlite"))
            user = try #require(User(name: "alice"))
        }

        mutating func take(_ steps: [(moment: Timestamp, claim: Claim?)]) throws {
            for step in steps[taken...] {
                if let claim = step.claim {
                    _ = try ledger.writeNow {
                        try $0.redeem(
                            [claim], for: user, under: .keep, accepting: origins, by: .user, at: step.moment)
                    }
                } else {
                    let view = Viewpoint(accepting: AcceptedOrigins(origins), at: step.moment) {
                        GeneratedLife.types[$0]
                    }
                    while try ledger.writeNow({ try $0.recordDueStates(from: view, limit: 100) }).changed > 0 {}
                }
            }
            taken = steps.count
        }

        mutating func take(_ grants: [Grant]) throws {
            for grant in grants {
                if given.insert(grant.identifier).inserted {
                    let new = Grant(
                        identifier: grant.identifier, item: grant.item, reason: grant.reason,
                        grantedBy: grant.grantedBy, grantedAt: grant.grantedAt, endsAt: grant.endsAt)
                    _ = try ledger.writeNow {
                        try $0.add(new, for: user)
                    }
                }
                if let revocation = grant.revocation, revoked.insert(grant.identifier).inserted {
                    _ = try ledger.writeNow { try $0.revoke(grant: grant.identifier, of: user, revocation) }
                }
            }
        }
    }

    private static func text(_ item: OwnedItem) -> String {
        "\(item.item) \(item.state) until \(item.until?.rfc3339 ?? "-") \(item.renews.map(\.description) ?? "-")"
    }

    private static func text(_ status: PurchaseStatus) -> String {
        "\(status.originalTransactionIdentifier) \(status.productIdentifier) \(status.state) until "
            + "\(status.until?.rfc3339 ?? "-") \(status.renews.map(\.description) ?? "-") "
            + "\(status.nextProductIdentifier ?? "-") \(status.expirationReason.map { "\($0)" } ?? "-")"
    }

    /// Compares the answers of the ledger with those of the rules.
    private static func compare(_ book: Book, _ answers: SurfaceAnswers, at moment: Timestamp) throws {
        let view = Viewpoint(accepting: AcceptedOrigins(origins), at: moment) { GeneratedLife.types[$0] }
        let (items, statuses, rights, history) = try book.ledger.readNow { transaction in
            (
                try transaction.ownedItems(of: book.user, from: view),
                try transaction.subscriptions(of: book.user, from: view),
                try transaction.rights(SurfaceAnswers.rights, of: book.user, from: view),
                try transaction.history(of: book.user, from: view)
            )
        }
        #expect(items.map(text) == answers.items.map(text))
        let (listed, known) = try book.ledger.readNow { transaction in
            (
                try transaction.items(of: book.user, at: moment),
                try answers.purchases.flatMap { purchase in
                    try transaction.purchases(ofTransaction: purchase.original.identifier, at: moment) {
                        GeneratedLife.types[$0]
                    }
                }
            )
        }
        #expect(listed == answers.items.map(\.item))
        #expect(known.map { text($0.status) } == answers.purchases.map { text($0.status) })
        #expect(
            statuses.map(text)
                == answers.purchases.filter { $0.type == .autoRenewableSubscription }.map { text($0.status) })
        #expect(
            rights.filter(\.isActive).map { "\($0.name) \(text($0.item))" }
                == answers.items.map { "\($0.item.collection) \(text($0))" })
        guard let history else { return }
        var customer = answers.customer
        let expected = CustomerInfo(customer)
        (customer.transactions, customer.renewals) = (history.transactions, history.renewals)
        customer.grants = history.grants
        let info = CustomerInfo(customer)
        #expect(info.entitlements == expected.entitlements)
        #expect(info.subscriptions == expected.subscriptions)
        #expect(info.purchases == expected.purchases)
        var collection = answers.collection
        let purchases = collection.purchases(at: answers.moment)
        (collection.transactions, collection.renewals) = (history.transactions, history.renewals)
        #expect(collection.purchases(at: answers.moment) == purchases)
    }

    @Test(arguments: 0..<12) func `the ledger answers as the rules do, and writes their messages`(seed: UInt64) throws {
        let dice = Dice(seed: 1000 + seed)
        let life = GeneratedLife(dice)
        var follower = MessageFollower()
        var book = try Book()
        var rest = life.statements.sorted { $0.arrivesAt < $1.arrivesAt }[...]
        for moment in life.moments(dice) {
            while let next = rest.first, next.arrivesAt <= moment {
                follower.record(next.claim, for: 1, at: next.arrivesAt)
                rest = rest.dropFirst()
            }
            follower.recordDueStates(until: moment)
            try book.take(follower.steps)
            try book.take(life.grants(at: moment))
            let answers = SurfaceAnswers(
                follower.facts, by: life.known(at: moment), life.grants(at: moment), at: moment)
            try Self.compare(book, answers, at: moment)
        }
        let written = try book.ledger.readNow { try $0.audit(of: book.user) }.map(\.entry).filter { $0.origin != nil }
        func text(_ entry: AuditEntry) -> String { "\(entry.event) \(entry.reference) \(entry.reason ?? "-")" }
        #expect(written.map(text).sorted() == follower.log.map(text).sorted())
    }
}
