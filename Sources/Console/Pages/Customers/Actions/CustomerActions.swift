import Features
import HTTPSupport
import Hummingbird
import Ledger
import Proofs

extension CustomerView {
    /// The forms of the customer's page that change something.
    var actions: HTML {
        section(.id("actions")) {
            h2 { "Actions" }
            context.action("Give an item", to: .customer(user, "grants"), submit: "Give the item") {
                FormSubmission.field(services.randomness)
                Field.choice(
                    "give-item", "Item",
                    names.items.filter { names.catalogs.grants($0) }.map { ($0.description, names.item($0)) })
                CustomersRoutes.end
                Field.reason("give-reason")
            }
            if !names.catalogs.balances.isEmpty {
                context.action(
                    "Add to a balance", to: .customer(user, "balances"), submit: Phrase("Add", context: "balance")
                ) {
                    FormSubmission.field(services.randomness)
                    Field.choice("balance", "Balance", names.catalogs.balances.map { ($0, Phrase(same: $0)) })
                    CustomersRoutes.amount
                    Field.reason("balance-reason")
                }
            }
            if services.webhooks != nil {
                context.action(
                    "Send the webhook messages again", to: .customer(user, "webhooks"), submit: "Send again", .plain
                ) {
                    p { "Sends the latest messages about this customer to every webhook again." }
                }
            }
            p { a(.class("button"), .href(.customer(user, "export"))) { "Export all data (JSON)" } }
            if context.may(.administer) {
                context.action("Erase the customer", to: .customer(user, "erasure"), submit: "Erase", .danger) {
                    p {
                        "The name, the profile and the reasons are erased for good. The purchases stay redeemed, so that nobody can redeem them again."
                    }
                    Field.text(
                        "erase-name", "Type the customer's name to confirm",
                        maximumLength: User.maximumCustomerLength, isRequired: true)
                }
            }
        }
    }
}

/// One submission of a form. The page makes its key, so that a form that is sent twice takes effect once.
struct FormSubmission {
    private static let field = "submission"

    /// The answer to store under the key of the submission.
    let answer: KeptAnswer

    /// The hidden field with a new key.
    static func field(_ randomness: Randomness) -> HTML {
        input(.type("hidden"), .name(field), .value(Base64.encode(randomness.bytes(16), .urlSafe)))
    }

    /// - Parameter fields: The names of the fields that decide the effect.
    /// - Throws: `Problem`, `fieldInvalid`.
    init(_ request: Request, _ context: ConsoleContext, _ fields: [String]) throws {
        let text = Array(try context.form.text(Self.field).utf8)
        guard Base64.decode(text[...], .urlSafe)?.count == 16 else {
            throw ConsoleForm.invalid(Self.field, "the key that the page contains")
        }
        let key = IdempotencyKey(caller: try context.caller, key: "console " + String(decoding: text, as: UTF8.self))
        var content = Array(request.uri.path.utf8)
        for field in fields { content += [0] + (context.form.bytes(field) ?? []) }
        answer = key.answer(Array("{}".utf8), to: DigestAlgorithm.sha256.digest(of: content))
    }

    /// Checks the answer of the submission that took effect; nil if this one did.
    ///
    /// - Throws: `Problem`, `formSentBefore`, if another content was sent under the same key.
    func check(_ earlier: KeptAnswer?) throws(Problem) {
        guard let earlier, earlier.requestDigest != answer.requestDigest else { return }
        throw Problem(
            status: .conflict, code: "formSentBefore",
            detail: "The form was sent before with other content. Reload the page and try again.")
    }
}

extension CustomersRoutes {
    /// The amount that one form adds to a balance.
    static let amount = Field.number(
        "amount", "Amount", in: 1...1_000_000_000, expected: "a number from 1 to 1000000000")

    /// The end of a given item: the end of the day in the form, or none.
    static let end = Field.date(
        "give-until", Phrase("Until", context: "day"), note: "To the end of this day in UTC. Empty for no end."
    ).optional("a date such as 2027-01-31, or empty") { CalendarDay($0)?.adding(days: 1).start }

    /// Adds the receivers of the forms on the pages of customers.
    func addActions(to pages: ConsolePages) {
        func post(
            _ path: String, _ permission: TeamPermission,
            _ action: @Sendable @escaping (User, Request, ConsoleContext) async throws -> ConsolePath
        ) {
            pages.post(RouterPath(Self.customer + path), permission) { request, context in
                try await action(try await services.customer(context), request, context)
            }
        }
        post("/grants", .support) { try await give($0, $1, $2) }
        post("/grants/:grant/revocation", .support) { user, _, context in
            let grant = try context.parameters.text("grant")
            _ = try await entitlements.revoke(
                grant: grant, of: user, reason: try context.form.reason("reason-" + grant), by: try context.caller)
            return .customer(user, done: .revoked)
        }
        post("/balances", .support) { try await credit($0, $1, $2) }
        post("/transactions/:transaction/revocation", .support) { user, request, context in
            let transaction = try await entitlements.change(
                .revoke(reason: try context.form.reason()), ofTransaction: try context.parameters.text("transaction"),
                origin: try request.query("origin"), in: try request.query("app"), of: user, by: try context.caller)
            return transaction.path(of: user, done: .revoked)
        }
        post("/transactions/:transaction/reinstatement", .support) { user, request, context in
            let transaction = try await entitlements.change(
                .reinstate(reason: try context.form.reason()),
                ofTransaction: try context.parameters.text("transaction"), origin: try request.query("origin"),
                in: try request.query("app"), of: user, by: try context.caller)
            return transaction.path(of: user, done: .reinstated)
        }
        post("/erasure", .administer) { user, _, context in
            let typed = User(
                issuer: user.issuer, name: try context.form.text("erase-name", upTo: User.maximumCustomerLength))
            guard typed == user else {
                throw ConsoleForm.invalid("erase-name", "the exact name of the customer")
            }
            let actor = try context.requiredMember.actor
            let isKnown = try await entitlements.ledger.write {
                try $0.erase(user, by: actor, at: entitlements.clock.now())
            }
            guard isKnown else { throw Problem.userNotFound }
            return ConsolePath("customers", done: .erased)
        }
        guard let webhooks = services.webhooks else { return }
        post("/webhooks", .support) { user, _, context in
            _ = try await webhooks.replay(about: user, by: try context.caller)
            return .customer(user, done: .queued)
        }
    }

    private func give(_ user: User, _ request: Request, _ context: ConsoleContext) async throws -> ConsolePath {
        let submission = try FormSubmission(request, context, ["give-item", "give-until", "give-reason"])
        guard let item = Item(typed: try context.form.requiredText("give-item")) else {
            throw ConsoleForm.invalid("give-item", "an item of the catalog")
        }
        let grant = try entitlements.newGrant(
            of: item, reason: try context.form.reason("give-reason"),
            endsAt: try context.form[Self.end], by: try context.caller)
        try submission.check(
            try await entitlements.give(grant, to: user, keeping: submission.answer))
        return .customer(user, done: .given)
    }

    private func credit(_ user: User, _ request: Request, _ context: ConsoleContext) async throws -> ConsolePath {
        let submission = try FormSubmission(request, context, ["balance", "amount", "balance-reason"])
        let addition = try entitlements.newAddition(
            of: try context.form[Self.amount], to: try context.form.requiredText("balance"),
            reason: try context.form.reason("balance-reason"), by: try context.caller)
        try submission.check(
            try await entitlements.add(addition, for: user, keeping: submission.answer))
        return .customer(user, done: .credited)
    }
}

extension Item {
    /// Reads the text form of an item: "sprout 1".
    init?(typed text: String) {
        guard let space = text.lastIndex(of: " "), let number = Int(text[text.index(after: space)...]), number >= 0
        else { return nil }
        self.init(collection: String(text[..<space]), number: number)
    }
}

extension CustomerView {
    func grantsPage(_ request: Request) async throws -> Page {
        let (shown, next) = try await HTTPSupport.Page(request).list(at: \.sequence) {
            try await entitlements.grants(of: user, before: $0, limit: $1)
        }
        return Page("Items given by the team", section: .customers) {
            Shown.wayBack(to: user)
            table(of: shown, next: next.map { .customer(user, "grants", query: ["cursor": $0]) })
        }
    }

    /// The items that the team has given, newest first, with the forms that revoke them.
    func table(of grants: [Grant], next: ConsolePath?) -> HTML {
        Listing.table("Items given by the team", of: grants, empty: "The team has given nothing.", next: next) {
            column("Item") { self.names.item($0.item) }
            column("Given") { Shown.day($0.grantedAt) }
            column(Phrase("By", context: "event")) { ActorWords.html(caller: $0.grantedBy, self.keys) }
            column("Reason") { data($0.reason) }
            column("Until") { Shown.day($0.endsAt) }
            column("State") { self.state(of: $0) }
            if context.may(.support) { column("Action") { self.revocation(of: $0) } }
        }
    }

    private func isOver(_ grant: Grant) -> Bool { grant.endsAt.map { $0 <= now } ?? false }

    @HTMLBuilder private func state(of grant: Grant) -> HTML {
        if let revocation = grant.revocation {
            Shown.badge("revoked", .bad)
            div(.class("note")) {
                Shown.day(revocation.revokedAt)
                plain(" · ")
                spaced(by: " · ", ActorWords.html(caller: revocation.revokedBy, keys), data(revocation.reason))
            }
        } else if isOver(grant) {
            Shown.badge("over")
        } else {
            Shown.badge("valid", .good)
        }
    }

    private func revocation(of grant: Grant) -> HTML {
        guard grant.revocation == nil, !isOver(grant) else { return Shown.nothing }
        return context.action(
            "Revoke", to: .customer(user, "grants", grant.identifier, "revocation"), submit: "Revoke", .danger
        ) {
            Field.reason("reason-" + grant.identifier)
        }
    }
}
