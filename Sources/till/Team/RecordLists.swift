import ArgumentParser
import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import Proofs
import Vocabulary

/// The lists of the ledger's records that belong to no single user: customers, refusals, notifications, and actions of the team.
extension LedgerUser {
    /// The rows of a list, from its pages. A page may have no row and still have a next one.
    fileprivate func rows<Row, Position>(
        upTo limit: ListLimit, _ page: (_ after: Position?, _ limit: Int) async throws -> ([Row], Position?)
    ) async throws -> [Row] {
        var (rows, position): ([Row], Position?) = ([], nil)
        repeat {
            let (found, next) = try await page(position, limit.limit - rows.count)
            rows += found
            position = next
        } while position != nil && rows.count < limit.limit
        return rows
    }
}

struct CustomersList: LedgerUser {
    static let configuration = CommandConfiguration(
        "list", "List customers with their state, what they have spent, and their last purchase.",
        """
        The lists: all by name, the newest first, the last purchase first (lastPurchase), the largest sum in a currency first \
        (spent), those in billing retry or a grace period (notPaid), those with a subscription that ended this month \
        (ended), and those of a product, the latest redemption first (product).
        """,
        examples: """
            till customers list newest --limit 20
            till customers list spent --currency KRW --environment sandbox
            till customers list product --product com.memolease.sesac1.sprout1
            """)

    @Argument(help: "The list: all, newest, lastPurchase, spent, notPaid, ended or product.")
    var selection: CustomerSelection = .all

    @Option(help: .value("code", "The currency of the amounts (default: that of the most customers)."))
    var currency: String?

    @Option(help: .product("of the list product"))
    var product: String?

    @Option(help: .environment)
    var environment: FigureQuery.Environment = .production

    @OptionGroup var list: ListLimit

    @OptionGroup var ledger: LedgerOptions

    func validate() throws {
        try require(
            (selection == .product) == (product != nil),
            "The list product needs --product, and no other list has it. Write `till customers list product --product ID`."
        )
    }

    func perform() async throws {
        _ = try await updatedFigures()
        let (ledger, now, environment) = (try existingLedger(), try common.dataDirectory.clock.now(), environment)
        let (selection, named) = (selection, currency)
        let currency =
            try await selection == .spent && named == nil
            ? ledger.read { try $0.spentCurrencies(in: environment).first } : named
        let query = CustomerQuery(selection, in: environment, currency: currency, product: product, at: now)
        let customers = try await rows(upTo: list) { last, limit in
            try await ledger.read { try $0.customers(query, after: last, limit: limit) }
        }
        let listed = try await ledger.read { try $0.listed(customers, in: environment) }
        terminal.table(
            ["CUSTOMER", "STATUS", "SPENT", "LAST PURCHASE", "SINCE"],
            listed.map { customer in
                [
                    customer.known.user.name, customer.state?.rawValue, customer.sum,
                    customer.lastPurchase?.rfc3339, customer.known.firstSeenAt.rfc3339,
                ]
            }, orElse: "No customers.")
        try terminal.report(["users": listed.map(\.report)])
    }
}

extension CustomerSelection: ExpressibleByArgument {}

extension ListedCustomer {
    /// The sums, the largest first; nil without one.
    fileprivate var sum: String? { spent.isEmpty ? nil : spent.map(\.formatted).joined(separator: ", ") }

    fileprivate var report: Report {
        [
            "user": UserName(known.user), "appAccountToken": known.appAccountToken.uuidString.lowercased(),
            "firstSeenAt": known.firstSeenAt.rfc3339, "state": state?.rawValue, "spent": spent,
            "lastPurchaseAt": lastPurchase?.rfc3339,
        ]
    }
}

struct Refusals: LedgerUser {
    static let configuration = CommandConfiguration(
        "refusals", "List the codes of refused purchases with causes and remedies, or the purchases of one code.",
        """
        Only authentic purchases are recorded, each once for a user and a transaction. `till receipt validate` finds the \
        mistake of another proof.
        """,
        examples: """
            till refusals
            till refusals productUnknown
            """)

    private static let days: Int64 = 28

    @Argument(help: "The code of the refusals (default: all codes).")
    var code: String?

    @OptionGroup var list: ListLimit

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        guard let code else { return try await codes() }
        let limit = list.limit
        let refusals = try await existingLedger().read { try $0.refusals(of: code, before: nil, limit: limit) }
        let explanation = RefusalRemedy(code: code)
        if let explanation {
            ["Cause: \(explanation.cause)", "Remedy: \(explanation.remedy)", ""].forEach(terminal.line)
        }
        terminal.table(
            ["TIME", "CUSTOMER", "PRODUCT", "TRANSACTION", "ORIGIN"],
            refusals.map {
                [
                    $0.entry.happenedAt.rfc3339, $0.user?.name, $0.entry.subject, $0.entry.reference,
                    $0.entry.origin?.rawValue,
                ]
            }, orElse: "No purchase was refused with this code.")
        let rows: [Report] = refusals.map {
            [
                "happenedAt": $0.entry.happenedAt.rfc3339, "user": $0.user.map { UserName($0) },
                "productId": $0.entry.subject, "transactionId": $0.entry.reference, "origin": $0.entry.origin,
            ]
        }
        try terminal.report([
            "code": code, "cause": explanation?.cause, "remedy": explanation?.remedy, "refusals": rows,
        ])
    }

    private func codes() async throws {
        let since = SystemClock().now().adding(days: -Self.days)
        let groups = try await existingLedger().read { try $0.refusalGroups(since: since, latest: 1) }
        terminal.table(
            ["CODE", "LAST \(Self.days) DAYS", "LATEST"],
            groups.map { [$0.code, String($0.count), $0.latest.first?.entry.happenedAt.rfc3339] },
            orElse: "No purchase was ever refused.")
        for group in groups {
            guard let explanation = RefusalRemedy(code: group.code) else { continue }
            ["", "\(group.code): \(explanation.cause)", "  \(explanation.remedy)"].forEach(terminal.line)
        }
        let rows: [Report] = groups.map {
            let explanation = RefusalRemedy(code: $0.code)
            return [
                "code": $0.code, "count": $0.count, "latestAt": $0.latest.first?.entry.happenedAt.rfc3339,
                "cause": explanation?.cause, "remedy": explanation?.remedy,
            ]
        }
        try terminal.report(["codes": rows])
    }
}

struct Notifications: LedgerUser {
    static let configuration = CommandConfiguration(
        "notifications", "List the notifications that the App Store and Google Play have sent, newest first.",
        """
        Late: received an hour or more after its signature. Repeated: received more than once. --json also prints the decoded \
        content.
        """,
        examples: """
            till notifications --type REFUND
            till notifications --outcome parked --limit 10
            till notifications --store play_store
            """)

    @Option(help: "Only notifications of this type, in the words of the store.")
    var type: String?

    @Option(help: "The outcome (granted, revoked, recorded or parked; default: all).")
    var outcome: NotificationOutcome?

    @Option(name: .customLong("bundle-id"), help: .bundleIdentifier("default: all apps"))
    var app: String?

    @Option(help: .store("local ones included; default: both"))
    var store: PurchaseStore?

    @OptionGroup var list: ListLimit

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        let (ledger, type, outcome, app, store) = (try existingLedger(), type, outcome, app, store)
        let notifications = try await rows(upTo: list) { position, limit in
            try await ledger.read {
                try $0.notifications(
                    ofType: type, outcome: outcome, in: app, from: store, before: position, limit: limit)
            }
        }
        terminal.table(
            ["RECEIVED", "TYPE", "OUTCOME", "TRANSACTION", "CUSTOMER", "MARKS"],
            notifications.map { received in
                let notification = received.notification
                let marks = [received.isLate ? "late" : nil, received.repeatedAt == nil ? nil : "repeated"]
                    .compactMap(\.self)
                return [
                    notification.receivedAt.rfc3339,
                    [notification.type, notification.subtype].compactMap(\.self).joined(separator: " "),
                    notification.outcome.rawValue, notification.transactionIdentifier, received.owner?.name,
                    marks.isEmpty ? nil : marks.joined(separator: " "),
                ]
            }, orElse: "No notification matches.")
        try terminal.report(["notifications": notifications.map(\.report)])
    }
}

extension NotificationOutcome: ExpressibleByArgument {}

extension ReceivedNotification {
    fileprivate var report: Report {
        [
            "notificationUUID": notification.notificationUUID, "app": app, "origin": notification.origin,
            "type": notification.type, "subtype": notification.subtype, "signedAt": notification.signedAt.rfc3339,
            "receivedAt": notification.receivedAt.rfc3339, "repeatedAt": repeatedAt?.rfc3339, "isLate": isLate,
            "outcome": notification.outcome.rawValue, "transactionId": notification.transactionIdentifier,
            "originalTransactionId": notification.originalTransactionIdentifier,
            "user": owner.map { UserName($0) }, "content": notification.content.flatMap { JSONContent(json: $0) },
        ]
    }
}

struct ConsoleActions: LedgerUser {
    static let configuration = CommandConfiguration(
        "actions", "List what people have changed for customers at the console, newest first.",
        "`till story` also lists the actions of API keys, of one user.",
        examples: """
            till console actions
            till console actions --member ada
            """)

    @Option(help: .value("name", "Only the actions of this person."))
    var member: String?

    @OptionGroup var list: ListLimit

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        let (team, member) = (TeamService(ledger: try existingLedger(), clock: SystemClock()), member)
        let actions = try await rows(upTo: list) { position, limit in
            let (found, end) = try await team.actions(of: member, after: position, limit: limit)
            return (found, end)
        }
        terminal.table(
            ["TIME", "PERSON", "ACTION", "CUSTOMER", "WHAT", "REASON"],
            actions.map { action in
                [
                    action.entry.happenedAt.rfc3339, action.person, action.entry.event.rawValue, action.user?.name,
                    [action.entry.subject, action.entry.reference].filter { !$0.isEmpty }.joined(separator: " "),
                    action.entry.reason,
                ]
            }, orElse: "There are none.")
        let reports: [Report] = actions.map { action in
            [
                "happenedAt": action.entry.happenedAt.rfc3339, "member": action.person,
                "event": action.entry.event.rawValue, "user": action.user.map { UserName($0) },
                "subject": action.entry.subject, "reference": action.entry.reference, "reason": action.entry.reason,
            ]
        }
        try terminal.report(["actions": reports])
    }
}

extension ActivityEntry {
    /// The name of the person who acted.
    fileprivate var person: String {
        if case .member(let name) = entry.actor { name } else { entry.actor.description }
    }
}

struct RefundsCommand: LedgerUser {
    static let configuration = CommandConfiguration(
        "refunds", "Show the answers of the refund rules to the stores' latest questions. Nothing is sent.",
        """
        The rules are in RefundRules.json in the folder of the catalog. The App Store asks about refunds, and Google Play about \
        payments that banks dispute: rows of each are listed. A question that the service has answered is shown with the answer that the present rules \
        would give.
        """,
        examples: """
            till refunds
            till refunds --limit 500 --refund-preference DECLINE
            """)

    @Option(help: .value("n", "The number of rows, from 1 to 1000."))
    var limit = 100

    @Option(
        help: .value(
            "preference",
            "The preference where no rule matches: \(RefundPreference.allCases.map(\.rawValue).joined(separator: ", ")) (default: none)."
        ))
    var refundPreference: RefundPreference?

    @OptionGroup var ledger: LedgerOptions

    func validate() throws {
        try ListLimit.validate(limit)
    }

    fileprivate struct Row: Sendable {
        let store: PurchaseStore
        let askedAt: Timestamp
        /// The transaction, or the order at Google Play.
        let identifier: String
        let facts: RefundFacts
        /// Nil without rules.
        let answer: RefundAnswer?
    }

    func perform() async throws {
        let ledger = try existingLedger()
        let apps = try await administration(of: ledger).apps
        let (limit, preference) = (limit, refundPreference)
        let rows = try await ledger.read(.longSnapshot) { transaction in
            let catalog = apps.first.catalog
            let requests = try transaction.latestConsumptionRequests(in: catalog.bundleIdentifier, limit: limit)
            let reviews = try transaction.latestRefundReviews(in: catalog.bundleIdentifier, limit: limit)
            func row(
                _ store: PurchaseStore, _ askedAt: Timestamp, _ identifier: String, _ facts: RefundFacts
            ) -> Row {
                Row(
                    store: store, askedAt: askedAt, identifier: identifier, facts: facts,
                    answer: catalog.refundRules?.answer(to: facts, otherwise: preference))
            }
            return try requests.map {
                let facts = try transaction.refundFacts(about: $0, in: catalog).facts
                return row(.appStore, $0.signedAt, $0.transactionIdentifier, facts)
            }
                + reviews.map {
                    row(
                        .playStore, $0.signedAt, $0.orderId,
                        try transaction.refundEvidence(about: $0, in: catalog).facts)
                }
        }.sorted { $0.askedAt > $1.askedAt }
        if apps.first.catalog.refundRules == nil {
            terminal.note("The catalog has no \(Catalog.refundRulesFile), so no rule answers.")
        }
        terminal.table(
            ["ASKED", "STORE", "TRANSACTION", "PRODUCT", "REASON", "FACTS", "ANSWER"],
            rows.map {
                [
                    $0.askedAt.rfc3339, $0.store.rawValue, $0.identifier, $0.facts.productIdentifier,
                    $0.facts.reason, $0.facts.text, $0.words,
                ]
            }, orElse: "No store has asked anything.")
        try terminal.json(["questions": rows.map(\.report)])
    }
}

extension RefundsCommand.Row {
    fileprivate var words: String? { store == .playStore ? answer?.googleText : answer?.text }

    fileprivate var report: Report {
        let isOfGoogle = store == .playStore
        return [
            "askedAt": askedAt.rfc3339, "store": store.rawValue, "transactionId": isOfGoogle ? nil : identifier,
            "orderId": isOfGoogle ? identifier : nil,
            "productId": facts.productIdentifier, "reason": facts.reason, "isDelivered": facts.isDelivered,
            "consumed": facts.consumed, "ageSeconds": facts.age, "refunds": facts.refunds, "rule": answer?.rule,
            "refundPreference": isOfGoogle ? answer?.googlePreference.rawValue : answer?.preference?.rawValue,
            "consumptionPercentage": answer?.percentage,
        ]
    }
}

extension RefundPreference: ExpressibleByArgument {}
