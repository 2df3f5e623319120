import Entitlements
import HTTPSupport
import Hummingbird
import Ledger
import Proofs
import Vocabulary

extension CustomerView {
    /// The page of a transaction: its facts, its proof, and the revocation by the team.
    func transactionPage(_ request: Request) async throws -> Page {
        let recorded = try await recorded(request)
        let transaction = recorded.transaction
        let name = names.product(transaction.productIdentifier)
        let storeActions = try await storeActions(of: transaction)
        return Page("Transaction: \(CustomerWords.isolated(name))", section: .customers) {
            Shown.wayBack(to: user)
            card("Recorded facts") { facts(of: recorded) }
            if let path = retentionPath(of: transaction) { p { a(.href(path)) { "Retention message" } } }
            if !transaction.facts.isEmpty {
                card("What \(transaction.origin.store.company) has stated") {
                    // Under the names of the store.
                    Facts.list {
                        for each in TransactionFact.allCases {
                            if let value = transaction.facts[each] {
                                fact(Phrase(same: "\(each)")) { Self.html(each, value, transaction.facts) }
                            }
                        }
                    }
                }
            }
            if context.may(.support) {
                part("Actions") {
                    let isRevoked = transaction.revocation != nil
                    context.action(
                        isRevoked ? "Reinstate the purchase" : "Revoke the purchase",
                        to: transaction.path(of: user, isRevoked ? "reinstatement" : "revocation"),
                        submit: isRevoked ? "Reinstate" : "Revoke", isRevoked ? .primary : .danger
                    ) { Field.reason() }
                    p { a(.href(transaction.path(of: user, "money-back"))) { "Money back?" } }
                }
            }
            storeActions
        }
    }

    /// The transaction of the path.
    ///
    /// - Throws: `GrantError.transactionNotFound`.
    private func recorded(_ request: Request) async throws -> RecordedTransaction {
        let (origin, app) = (try request.recordedOrigin(), try request.query("app"))
        let identifier = try context.parameters.text("transaction")
        let found = try await entitlements.ledger.read { try $0.recordedTransactions(identifier, of: self.user) }
            .first { recorded in
                (origin == nil || recorded.transaction.origin == origin)
                    && (app?.hasSameBytes(as: recorded.transaction.app ?? "") ?? true)
            }
        guard let found else { throw GrantError.transactionNotFound }
        return found
    }

    /// The page about the money of a purchase: Apple's address, and what the team can do instead.
    func moneyBackPage(_ request: Request) async throws -> Page {
        let transaction = try await recorded(request).transaction
        let name = names.product(transaction.productIdentifier)
        let asksStore = context.may(.support) ? try await canRefund(transaction) : false
        let story = try await entitlements.refundStory(of: transaction, for: user)
        let dispute = try await entitlements.openDispute(of: transaction)
        return Page("Money back for \(CustomerWords.isolated(name))?", section: .customers) {
            Shown.wayBack(to: user)
            table(of: [transaction], next: nil)
            card("Money back?", isNarrow: true) {
                if let sentence = transaction.takenBackSentence { p { strong { Shown.sentence(sentence) } } }
                if let request = story.openRequest {
                    let company = transaction.origin.store.company
                    p { Shown.sentence("The customer asked \(company) for a refund on \(request.rfc3339).") }
                }
                if let dispute {
                    p { Shown.sentence("The customer's bank has disputed the payment since \(dispute.rfc3339).") }
                }
                if ![.refunded, .chargedBack].contains(transaction.takenBack?.what) {
                    wayToMoney(at: transaction.origin.store)
                    if asksStore {
                        p { a(.href(transaction.path(of: user))) { "Ask the store" } }
                    }
                }
            }
            if !story.isEmpty {
                part("What happened to the money") {
                    ol(.class("timeline")) { for each in story { entry(of: each, among: [transaction]) } }
                }
            }
            if context.may(.support) {
                if transaction.revocation == nil {
                    card("Revoke the purchase", isNarrow: true) {
                        note(
                            "The customer loses what the purchase gives. \(transaction.origin.store.company) returns no money by it."
                        )
                        context.form(to: transaction.path(of: user, "revocation")) {
                            Field.reason()
                            button(.class("danger")) { "Revoke" }
                        }
                    }
                }
                card("Give something instead", isNarrow: true) { gift }
            }
        }
    }

    @HTMLBuilder func wayToMoney(at store: PurchaseStore) -> HTML {
        if let address = store.refundAddress {
            p {
                store.orderConsole == nil
                    ? "Only \(store.company) returns money. Send the customer to this address:"
                    : "Refund the order in the Play Console, or send the customer to this address:"
            }
            Shown.copyable("refund-address-\(store.rawValue)", address)
        } else {
            p { "Only \(store.company) returns money." }
        }
        note("When \(store.company) has refunded, the service takes the purchase back by itself.")
    }

    private static func html(_ fact: TransactionFact, _ value: StatedValue, _ facts: TransactionFacts) -> HTML {
        switch (fact.field.kind, value) {
        case (.date, .integer(let number)): Shown.moment(Timestamp(millisecondsSince1970: number))
        case (.integer, .integer(let number)) where [.price, .recurringPrice, .refundedAmount].contains(fact):
            Shown.money(Price(milliunits: number, currency: facts.text(.currency) ?? ""))
        case (.object, .text(let text)): ContentTree.html(ofJSON: text) ?? data(text)
        case (_, .integer(let number)): plain(String(number))
        case (_, .text(let text)): data(text)
        }
    }

    func transactionsPage(_ request: Request) async throws -> Page {
        let store = try request.recordedStore()
        let (shown, next) = try await RequestedPage(request).list(at: \.sequence) {
            try await entitlements.transactions(of: user, from: store, before: $0, limit: $1)
        }
        return Page("Transactions", section: .customers) {
            Shown.wayBack(to: user)
            if stores.count > 1 {
                Tabs.choices("Store", [nil] + stores, present: store) {
                    $0?.title ?? "All"
                } path: {
                    .customer(user, "transactions", query: ["store": $0?.rawValue])
                }
            }
            table(
                of: shown,
                next: next.map { .customer(user, "transactions", query: ["store": store?.rawValue, "cursor": $0]) })
        }
    }

    func table(of transactions: [RedeemedTransaction], next: ConsolePath?) -> HTML {
        Listing.table("Transactions", of: transactions, empty: "The customer has redeemed nothing.", next: next) {
            column("Product") { transaction in
                a(.href(transaction.path(of: self.user))) { self.names.product(transaction.productIdentifier) }
            }
            column("Bought") { Shown.day($0.purchaseDate) }
            column("Until") { Shown.day($0.accessEnd(among: transactions)) }
            column("Price") { Shown.money($0.paidPrice) }
            column("State") { self.state(of: $0, among: transactions) }
        }
    }

    @HTMLBuilder private func state(
        of transaction: RedeemedTransaction, among transactions: [RedeemedTransaction]
    ) -> HTML {
        if transaction.revocation != nil {
            Shown.badge("revoked by the team", .bad)
        } else if let what = transaction.takenBack?.what {
            Shown.badge(what.word)
        } else if transaction.revocationDate != nil {
            Shown.badge(CustomerWords.word(.upgraded))
        } else if let end = transaction.accessEnd(among: transactions), end <= now {
            Shown.badge("over")
        } else {
            Shown.badge("valid", .good)
        }
        also(mark(transaction.origin))
    }

    /// The facts that the ledger stores about a redeemed transaction and its proof.
    @HTMLBuilder func facts(of recorded: RecordedTransaction) -> HTML {
        let transaction = recorded.transaction
        Facts.list {
            fact("Product") {
                spaced(
                    bdi { names.product(transaction.productIdentifier) },
                    Shown.identifier(transaction.productIdentifier))
            }
            fact("Gives") {
                for item in recorded.items { div { names.item(item) } }
                if let credit = recorded.credit {
                    div { spaced(Shown.number(credit.amount), data(credit.balance)) }
                }
            }
            fact("Transaction") { Shown.identifier(transaction.transactionIdentifier) }
            fact("Original transaction") { Shown.identifier(transaction.originalTransactionIdentifier) }
            if let order = transaction.facts.text(.orderId) { fact("Order") { Shown.identifier(order) } }
            fact("Origin") { OriginWords.html(transaction.origin) }
            fact("App") { Shown.identifier(transaction.app) }
            fact("Quantity") { plain(String(transaction.quantity)) }
            fact("Bought") { Shown.moment(transaction.purchaseDate) }
            fact("Price") { Shown.money(transaction.paidPrice) }
            fact("Storefront") { transaction.storefrontName }
            if let sentence = transaction.takenBackSentence {
                fact("Money back?") { Shown.sentence(sentence) }
            }
            if let paidBack = transaction.paidBack {
                let amount = paidBack.amount.map {
                    Price(milliunits: $0, currency: transaction.facts.text(.currency) ?? "")
                }
                fact("Paid back") { spaced(by: " · ", Shown.money(amount), Shown.moment(paidBack.at)) }
            }
            fact("Redeemed") { Shown.moment(transaction.redeemedAt) }
            fact("Last statement") { Shown.moment(recorded.statedAt) }
            fact("Ends") { Shown.moment(transaction.expiresAt) }
            fact("Revoked by \(transaction.origin.store.company)") { Shown.moment(transaction.revocationDate) }
            fact("Revoked by the team") {
                if let revocation = transaction.revocation {
                    spaced(
                        by: " · ", Shown.moment(revocation.revokedAt),
                        ActorWords.html(caller: revocation.revokedBy, keys), data(revocation.reason))
                }
            }
        }
        h3 { "The proof" }
        Facts.list {
            fact("Digest (SHA-256)") {
                let digest = recorded.proofDigest.hexadecimal
                Shown.identifier(digest)
                if recorded.isProofKept {
                    div { a(.href(.customer(user, "proofs", digest))) { "Decode the kept proof" } }
                }
            }
            fact("Trusted certificate (SHA-256)") { Shown.identifier(recorded.anchorDigest?.hexadecimal) }
            fact("Signing certificate (SHA-256)") { Shown.identifier(recorded.leafDigest?.hexadecimal) }
        }
    }
}

extension StoreReturn {
    var word: Shown.Word {
        switch self {
        case .refunded: ("refunded", .bad)
        case .partlyRefunded: ("partly refunded", .warning)
        case .chargedBack: ("charged back", .bad)
        case .shareEnded: ("no longer shared", .neutral)
        case .seatTaken: ("seat taken back", .neutral)
        case .revoked: ("revoked", .bad)
        }
    }
}

extension [StoryEntry] {
    /// The date of the customer's request for a refund that the store has not decided; nil without one.
    fileprivate var openRequest: Timestamp? {
        // The newest entry comes first, and the service's own answer decides nothing.
        for each in self {
            switch each.content {
            case .notification(let notification): return notification.asksForRefund ? notification.signedAt : nil
            case .event(let event, _, _) where [.revoked, .paymentRefunded].contains(event.event):
                // A revocation by the team pays nothing back.
                if case .store = event.actor { return nil }
            case .event: continue
            }
        }
        return nil
    }
}

extension RedeemedTransaction {
    /// The part of the purchase that the store has taken back, in a sentence: "Apple refunded it on 3 November 2026."
    var takenBackSentence: Phrase? {
        guard let takenBack else { return nil }
        // 1 is the developer (purchases.voidedpurchases, `voidedSource`).
        let payer = facts.integer(.voidedSource) == 1 ? "Your team" : Phrase(same: origin.store.company)
        let day = takenBack.at.rfc3339
        switch takenBack.what {
        case .refunded: return "\(payer) refunded it on \(day)."
        case .partlyRefunded: return "\(payer) refunded a part of it on \(day)."
        case .chargedBack: return "It was charged back by the customer's bank on \(day)."
        case .shareEnded: return "The family has not shared it since \(day)."
        case .seatTaken: return "The buyer took the seat back on \(day)."
        case .revoked: return "\(payer) revoked it on \(day)."
        }
    }

    func path(of user: User, _ action: String? = nil, done notice: Notice? = nil) -> ConsolePath {
        let query: KeyValuePairs<String, String?> = ["origin": origin.rawValue, "app": app]
        guard let action else {
            return .customer(user, "transactions", transactionIdentifier, query: query, done: notice)
        }
        return .customer(user, "transactions", transactionIdentifier, action, query: query, done: notice)
    }

    func isMeant(by event: AuditEntry) -> Bool {
        event.origin == origin && event.reference.hasSameBytes(as: transactionIdentifier)
            && event.subject.hasSameBytes(as: productIdentifier)
    }
}
