import Entitlements
import Features
import HTTPSupport
import Hummingbird
import Ledger
import Proofs
import Vocabulary

/// One submission of a form. The page makes its key, so that a form that is sent twice takes effect once.
struct FormSubmission {
    private static let field = "submission"

    /// The answer to store under the key of the submission.
    let answer: KeptAnswer

    /// The hidden field with a new key.
    static func field(_ randomness: Randomness) -> HTML {
        hidden(field, Base64.encode(randomness.bytes(16), .urlSafe))
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
        "give-until", Phrase("Until", context: "day"),
        note: "To the end of this day in the time zone of the page. Empty for no end."
    ).optional("a date such as 2027-01-31, or empty") { CalendarDay($0)?.adding(days: 1).start }

    /// The minutes by which the browser's time zone is ahead of UTC at that end. The script fills it in.
    private static let zone = "zone"

    static var zoneField: HTML { hidden(zone, "0") }

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
            try await change(.revoke(reason: try context.form.reason()), user, request, context, done: .revoked)
        }
        post("/transactions/:transaction/reinstatement", .support) { user, request, context in
            try await change(.reinstate(reason: try context.form.reason()), user, request, context, done: .reinstated)
        }
        post("/move", .support) { user, _, context in try await move(of: user, context) }
        // An erased customer has no page.
        pages.post("customers/move", .support) { _, context in try await move(of: nil, context) }
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

    /// - Parameter user: The owner; nil for any.
    private func move(of user: User?, _ context: ConsoleContext) async throws -> ConsolePath {
        let purchase = try context.form.requiredText("move-purchase").split(separator: " ", maxSplits: 2)
            .map(String.init)
        guard purchase.count == 3, let origin = Origin(rawValue: purchase[0]) else {
            throw ConsoleForm.invalid("move-purchase", "a purchase of the customer")
        }
        let other = try await services.user(
            named: try context.form[UnclaimedRoutes.user], issuer: try context.form[UnclaimedRoutes.issuer])
        _ = try await entitlements.move(
            transaction: purchase[2], origin: origin, in: purchase[1], of: user, to: other,
            reason: try context.form.reason("move-reason"), by: try context.caller)
        return .customer(other, done: .moved)
    }

    private func change(
        _ change: PurchaseChange, _ user: User, _ request: Request, _ context: ConsoleContext, done notice: Notice
    ) async throws -> ConsolePath {
        let transaction = try await entitlements.change(
            change, ofTransaction: try context.parameters.text("transaction"), origin: try request.query("origin"),
            in: try request.query("app"), of: user, by: try context.caller)
        return transaction.path(of: user, done: notice)
    }

    private func give(_ user: User, _ request: Request, _ context: ConsoleContext) async throws -> ConsolePath {
        let submission = try FormSubmission(request, context, ["give-item", "give-until", Self.zone, "give-reason"])
        let minutes = try context.form.integer(Self.zone) ?? 0
        guard (-1440...1440).contains(minutes) else {
            throw ConsoleForm.invalid(Self.zone, "at most a day, in minutes")
        }
        guard let item = Item(typed: try context.form.requiredText("give-item")) else {
            throw ConsoleForm.invalid("give-item", "an item of the catalog")
        }
        let grant = try entitlements.newGrant(
            of: item, reason: try context.form.reason("give-reason"),
            endsAt: try context.form[Self.end]?.adding(seconds: -60 * Int64(minutes)), by: try context.caller)
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
    /// The form that gives an item.
    var gift: HTML {
        context.form(to: .customer(user, "grants")) {
            FormSubmission.field(services.randomness)
            let items = names.items.filter { names.catalogs.grants($0) }
            Field.choice("give-item", "Item", items.map { ($0.description, names.item($0)) })
            CustomersRoutes.end
            CustomersRoutes.zoneField
            Field.reason("give-reason")
            button(.class("primary")) { "Give the item" }
        }
    }

    func grantsPage(_ request: Request) async throws -> Page {
        let (shown, next) = try await RequestedPage(request).list(at: \.sequence) {
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
            column("Until") { Shown.lastDay(before: $0.endsAt) }
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

    private func revocation(of grant: Grant) -> HTML? {
        guard grant.revocation == nil, !isOver(grant) else { return nil }
        return context.action(
            "Revoke", to: .customer(user, "grants", grant.identifier, "revocation"), submit: "Revoke", .danger
        ) {
            Field.reason("reason-" + grant.identifier)
        }
    }
}
