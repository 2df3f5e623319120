import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

extension CustomersRoutes {
    /// The amount that one form adds to a balance.
    static let amount = Field.number(
        "amount", "Amount", in: 1...1_000_000_000, expected: "a number from 1 to 1000000000")

    /// Adds the receivers of the forms on the pages of customers.
    func addActions(to pages: ConsolePages) {
        pages.post("customers/:issuer/:user/grants", .support) { try await give($0, $1) }
        pages.post("customers/:issuer/:user/grants/:grant/revocation", .support) { _, context in
            let user = try await services.customer(context)
            let grant = try context.parameters.text("grant")
            _ = try await entitlements.revoke(
                grant: grant, of: user, reason: try context.form.reason("reason-" + grant), by: try context.caller)
            return ConsolePath.customer(user, done: .revoked)
        }
        pages.post("customers/:issuer/:user/balances", .support) { try await credit($0, $1) }
        pages.post("customers/:issuer/:user/transactions/:transaction/revocation", .support) { request, context in
            let user = try await services.customer(context)
            let transaction = try await entitlements.revoke(
                transaction: try context.parameters.text("transaction"), origin: try request.origin(),
                in: try request.query("app"), of: user, reason: try context.form.reason(), by: try context.caller)
            return transaction.path(of: user, done: .revoked)
        }
        pages.post("customers/:issuer/:user/transactions/:transaction/reinstatement", .support) { request, context in
            let user = try await services.customer(context)
            let transaction = try await entitlements.reinstate(
                transaction: try context.parameters.text("transaction"), origin: try request.origin(),
                in: try request.query("app"), of: user, reason: try context.form.reason(), by: try context.caller)
            return transaction.path(of: user, done: .reinstated)
        }
        pages.post("customers/:issuer/:user/erasure", .administer) { _, context in
            let user = try await services.customer(context)
            let typed = User(
                issuer: user.issuer, name: try context.form.text("erase-name", upTo: User.maximumCustomerLength))
            guard typed == user else {
                throw ConsoleForm.invalid("erase-name", "the exact name of the customer")
            }
            guard try await entitlements.erase(user, by: try context.requiredMember.actor) else {
                throw Problem.userNotFound
            }
            return ConsolePath("customers", done: .erased)
        }
        if let webhooks = services.webhooks {
            pages.post("customers/:issuer/:user/webhooks", .support) { _, context in
                let user = try await services.customer(context)
                _ = try await webhooks.replay(about: user, by: try context.caller)
                return ConsolePath.customer(user, done: .queued)
            }
        }
    }

    private func give(_ request: Request, _ context: ConsoleContext) async throws -> ConsolePath {
        let user = try await services.customer(context)
        let submission = try FormSubmission(request, context, ["give-item", "give-until", "give-reason"])
        guard let item = Item(typed: try context.form.requiredText("give-item")) else {
            throw ConsoleForm.invalid("give-item", "an item of the catalog")
        }
        let grant = try entitlements.newGrant(
            of: item, reason: try context.form.reason("give-reason"),
            endsAt: try Self.end(context.form), by: try context.caller)
        try submission.check(
            try await entitlements.give(grant, to: user, keeping: submission.answer, for: submission.key))
        return ConsolePath.customer(user, done: .given)
    }

    /// The end of the day in a form; nil for none.
    private static func end(_ form: ConsoleForm) throws(Problem) -> Timestamp? {
        let text = try form.text("give-until")
        guard !text.isEmpty else { return nil }
        guard let day = CalendarDay(text) else {
            throw ConsoleForm.invalid("give-until", "a date such as 2027-01-31, or empty")
        }
        return day.adding(days: 1).start
    }

    private func credit(_ request: Request, _ context: ConsoleContext) async throws -> ConsolePath {
        let user = try await services.customer(context)
        let submission = try FormSubmission(request, context, ["balance", "amount", "balance-reason"])
        let addition = try entitlements.newAddition(
            of: try context.form[Self.amount], to: try context.form.requiredText("balance"),
            reason: try context.form.reason("balance-reason"), by: try context.caller)
        try submission.check(
            try await entitlements.add(addition, for: user, keeping: submission.answer, for: submission.key))
        return ConsolePath.customer(user, done: .credited)
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

extension Request {
    /// The origin in the address; nil for none.
    ///
    /// - Throws: `Problem`, `parameterInvalid`.
    func origin() throws(Problem) -> Origin? {
        guard let text = try query("origin") else { return nil }
        guard let origin = Origin(rawValue: text) else {
            throw Problem.parameter("origin", "one of " + Origin.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return origin
    }
}

extension CustomerView {
    /// The page of all items that the team has given.
    func grantsPage(_ request: Request) async throws -> Page {
        let page = try HTTPSupport.Page(request)
        let found = try await entitlements.grants(of: user, before: try page.before(), limit: page.size + 1)
        let (shown, next) = page.part(of: found) { String($0.sequence) }
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
