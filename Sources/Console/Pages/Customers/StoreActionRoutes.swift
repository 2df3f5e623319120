import Entitlements
import Features
import Foundation
import HTTPSupport
import Hummingbird
import Ledger
import Proofs
import Vocabulary

/// The actions for which the team asks the stores: their forms follow from the table of actions.
struct StoreActionRoutes: Sendable {
    private static let identifier = "action"
    private static let kind = "kind"
    private static let place = "place"

    let services: any ConsoleServices

    private var actions: StoreActionService { services.storeActions }

    func add(to pages: ConsolePages) {
        pages.get("store-actions") { request, context in try await list(request, context) }
        pages.post("store-actions", .administer) { _, context in
            let kind = try Self.kind(in: context.form)
            let place = try context.form.requiredText(Self.place).split(separator: " ", maxSplits: 1).map(String.init)
            guard place.count == 2, let origin = Origin(rawValue: place[0]) else {
                throw ConsoleForm.invalid(Self.place, "an app and an origin of the page")
            }
            try await ask(kind, of: try context.form.requiredText("product"), origin, in: place[1], context)
            return ConsolePath("store-actions", done: .requested)
        }
        pages.post("customers/:issuer/:user/transactions/:transaction/store-actions", .support) { request, context in
            let user = try ConsolePath.customer(context.parameters)
            let (transaction, query) = try await ask(request, context)
            return ConsolePath.customer(user, "transactions", transaction, query: query, done: .requested)
        }
        pages.post("unclaimed/:transaction/store-actions", .support) { request, context in
            let (transaction, query) = try await ask(request, context)
            return ConsolePath("unclaimed", transaction, query: query, done: .requested)
        }
        pages.post("store-actions/:action/approval", .support) { _, context in
            try await decide(approving: true, context, done: .approved)
        }
        pages.post("store-actions/:action/refusal", .support) { _, context in
            try await decide(approving: false, context, done: .declined)
        }
    }

    private func decide(
        approving isApproved: Bool, _ context: ConsoleContext, done notice: Notice
    ) async throws -> ConsolePath {
        let identifier = try context.parameters.text("action")
        try context.check(try await actions.action(identifier).kind.permission)
        let action = try await actions.decide(identifier, approving: isApproved, by: try context.caller)
        if isApproved { try await actions.perform(action) }
        return ConsolePath("store-actions", done: notice)
    }

    private static func kind(in form: ConsoleForm) throws(Problem) -> StoreAction.Kind {
        guard let kind = StoreAction.Kind(rawValue: try form.requiredText(kind)) else {
            throw ConsoleForm.invalid(Self.kind, "an action of the page")
        }
        return kind
    }

    private static func additional(_ kind: StoreAction.Kind) -> String { kind.rawValue + "-additional" }

    /// Asks the store of the transaction of a path.
    ///
    /// - Returns: The transaction, and the query of its page.
    private func ask(
        _ request: Request, _ context: ConsoleContext
    ) async throws -> (transaction: String, query: KeyValuePairs<String, String?>) {
        let transaction = try context.parameters.text("transaction")
        let (origin, app) = (try request.recordedOrigin(), try request.query("app"))
        let kind = try Self.kind(in: context.form)
        guard kind.rule.object != .product else {
            throw ConsoleForm.invalid(Self.kind, "an action about one purchase")
        }
        try context.check(kind.permission)
        try await ask(kind, of: transaction, origin, in: app, context)
        return (transaction, ["origin": origin?.rawValue, "app": app])
    }

    /// Records the request of a form, and asks the store. A form that is sent twice is about one action.
    private func ask(
        _ kind: StoreAction.Kind, of reference: String, _ origin: Origin?, in app: String?, _ context: ConsoleContext
    ) async throws {
        let form = context.form
        guard let identifier = UUID(uuidString: try form.requiredText(Self.identifier)) else {
            throw ConsoleForm.invalid(Self.identifier, "the key that the page contains")
        }
        var fields: [StoreActionField: JSONValue] = [:]
        for field in StoreActionField.allCases { fields[field] = try field.value(in: form, of: kind) }
        let action = try await actions.request(
            StoreActionRequest(
                identifier.lowercasedString, kind, of: reference, origin: origin, app: app,
                reason: try form.reason(kind.rawValue + "-reason"), fields,
                isAdditional: form.isChecked(Self.additional(kind))), by: try context.caller)
        if action.state == .waiting, action.attempts == 0 { try await actions.perform(action) }
    }

    /// The form of an action.
    ///
    /// - Parameters:
    ///   - items: The items of a purchase that a server has described.
    ///   - content: The fields before those of the table.
    static func form(
        _ kind: StoreAction.Kind, at endpoint: StoreActionRule.Endpoint, of items: [DescribedItem] = [],
        to path: ConsolePath, _ context: ConsoleContext, _ randomness: Randomness,
        @HTMLBuilder content: () -> HTML = { HTML() }
    ) -> HTML {
        context.action(
            kind.title, to: path, submit: "Ask the store", [.refund, .revoke].contains(kind) ? .danger : .primary
        ) {
            note(kind.effect)
            hidden(Self.identifier, UUID(randomness: randomness).lowercasedString)
            hidden(Self.kind, kind.rawValue)
            content()
            for field in endpoint.fields { field.control(of: kind, at: endpoint, items) }
            if endpoint.repetition == .addsUp {
                Field.checkbox(additional(kind), "Add to one of the last 7 days")
            }
            Field.reason(kind.rawValue + "-reason")
        }
    }

    private func list(_ request: Request, _ context: ConsoleContext) async throws -> Page {
        let page = try RequestedPage(request)
        let state = try request.query("state").flatMap(StoreAction.State.init(rawValue:))
        let (shown, next) = try await page.list(at: \.position) {
            try await actions.actions(in: state, after: $0, limit: $1)
        }
        let keys = try await services.ledger.apiKeyNames()
        return Page("Store actions", section: .customers) {
            note("Refunds, cancellations and moved charges, for which the team has asked the stores.")
            Tabs.choices("State", [nil] + StoreAction.State.allCases, present: state) {
                $0?.title ?? "All"
            } path: {
                ConsolePath("store-actions", query: ["state": $0?.rawValue])
            }
            Self.table(
                of: shown, services.names, keys, context,
                next: next.map { ConsolePath("store-actions", query: ["state": state?.rawValue, "cursor": $0]) })
            if context.may(.administer) { forms(context) }
        }
    }

    /// The forms of actions about all subscribers, for which the service has a key.
    @HTMLBuilder private func forms(_ context: ConsoleContext) -> HTML {
        let places = StoreAction.Kind.allCases.filter { $0.rule.object == .product }.flatMap { kind in
            let places = actions.places(for: kind)
            return places.first.flatMap { kind.rule.endpoint(at: $0.origin.store) }.map { [(kind, $0, places)] } ?? []
        }
        let products = services.names.products(with: nil).filter {
            services.entitlements.apps.type(of: $0.value) == .autoRenewableSubscription
        }
        for (kind, endpoint, places) in places where !products.isEmpty {
            Self.form(kind, at: endpoint, to: ConsolePath("store-actions"), context, services.randomness) {
                Field.choice("product", "Product", products)
                Field.choice(
                    Self.place, "App",
                    places.map {
                        ("\($0.origin.rawValue) \($0.app)", Phrase(same: "\($0.app) · \($0.origin.rawValue)"))
                    })
            }
        }
    }

    /// The actions, with the forms that decide about those that await approval.
    static func table(
        of actions: [StoreAction], _ names: CatalogNames, _ keys: [String: String], _ context: ConsoleContext,
        next: ConsolePath?
    ) -> HTML {
        Listing.table("Store actions", of: actions, empty: "No store was asked for an action.", next: next) {
            column("Action") { action in
                Shown.lines(
                    HTML { action.kind.title },
                    spaced(
                        by: " · ", data(JSONValue.object(action.terms).compactText), action.key.origin.store.title,
                        Shown.moment(action.requestedAt)))
            }
            column("Product") { action in
                Shown.lines(
                    bdi { names.product(action.productIdentifier) },
                    action.transactionIdentifier.map { transaction in
                        a(.href(.customers(transaction))) { plain(transaction) }
                    })
            }
            column(Phrase("By", context: "event")) { action in
                Shown.lines(
                    spaced(by: " · ", ActorWords.html(caller: action.requestedBy, keys), data(action.reason)),
                    action.decision.map { spaced(ActorWords.html(caller: $0.by, keys), Shown.moment($0.at)) })
            }
            column("State") { action in
                Shown.lines(Shown.badge(action.state.word), action.lastError.map { data($0) })
            }
            if context.may(.support) {
                column("Decision") { action in decision(about: action, context) }
            }
        }
    }

    /// The buttons about an action that awaits approval. Another member than the one who has asked approves it.
    @HTMLBuilder private static func decision(about action: StoreAction, _ context: ConsoleContext) -> HTML {
        if action.state == .awaitingApproval, context.may(action.kind.permission) {
            let isOwn = context.member.map { action.requestedBy.hasSameBytes(as: $0.caller) } ?? true
            if !isOwn {
                context.form(to: ConsolePath("store-actions", action.identifier, "approval")) {
                    button(.class("primary")) { "Approve" }
                }
            }
            context.form(to: ConsolePath("store-actions", action.identifier, "refusal")) {
                button { "Decline" }
            }
        }
    }
}

extension StoreAction.Kind {
    var title: Phrase { Phrase(english: rule.title, korean: rule.korean) }
    var effect: Phrase { Phrase(english: rule.effect, korean: rule.koreanEffect) }

    /// The permission to ask for it, and to approve it. All subscribers are more than one customer, and a migration changes how the shop
    /// sells.
    fileprivate var permission: TeamPermission {
        rule.object == .product || self == .migrate ? .administer : .support
    }
}

extension StoreAction.State {
    var title: Phrase { word.title }

    var word: Shown.Word {
        switch self {
        case .awaitingApproval: ("Awaits approval", .warning)
        case .waiting: ("Asked of the store", .neutral)
        case .accepted: ("Accepted by the store", .good)
        case .confirmed: ("Done", .good)
        case .refused: ("Refused by the store", .bad)
        case .declined: ("Declined by the team", .neutral)
        }
    }
}

extension StoreActionField {
    /// The name in the form of an action. A page has the forms of several.
    private func name(of kind: StoreAction.Kind) -> String { "\(kind.rawValue)-\(rawValue)" }

    private var title: Phrase { Phrase(english: rule.title, korean: rule.korean) }

    fileprivate func control(
        of kind: StoreAction.Kind, at endpoint: StoreActionRule.Endpoint, _ items: [DescribedItem]
    ) -> HTML {
        let name = name(of: kind)
        return switch rule.value {
        case .flag: Field.checkbox(name, title).html()
        case .choice(let choices):
            Field.choice(name, title, choices.map { ($0.word, Phrase(english: $0.title, korean: $0.korean)) }).html()
        case .number(let range):
            Field<Int?>.number(
                name, title, isRequired: true,
                note: "\(range.lowerBound) to \(endpoint.maximumDays ?? range.upperBound)"
            ).html()
        case .countries:
            Field.text(name, title, note: "Codes of three letters, such as KOR USA. Empty for all.").html()
        case .request:
            HTML {
                hidden(name, rawValue)
                DescribedRequestForm.controls(for: kind, of: items)
            }
        }
    }

    /// The value that a form sends, which the request checks; nil for none.
    fileprivate func value(in form: ConsoleForm, of kind: StoreAction.Kind) throws(Problem) -> JSONValue? {
        let name = name(of: kind)
        switch rule.value {
        case .flag: return form.isChecked(name) ? .bool(true) : nil
        case .number: return try form.integer(name).map { .integer($0) }
        case .choice:
            let word = try form.text(name)
            return word.isEmpty ? nil : .string(word)
        case .countries:
            let codes = try form.text(name).split { $0 == " " || $0 == "," }
            return codes.isEmpty ? nil : .array(codes.map { .string(String($0)) })
        case .request:
            return form.isChecked(name) ? .object(try DescribedRequestForm.request(for: kind, in: form)) : nil
        }
    }
}

extension CustomerView {
    /// True if the service can ask the store for a refund of a transaction.
    func canRefund(_ transaction: RedeemedTransaction) async throws -> Bool {
        try await services.storeActions.offers(
            about: transaction.transactionIdentifier, transaction.origin, in: transaction.app ?? ""
        ).contains { $0.kind == .refund }
    }

    /// The actions at the store about a transaction: those that were asked for, and the forms of others.
    func storeActions(of transaction: RedeemedTransaction) async throws -> HTML {
        try await StoreActionRoutes.actions(
            about: transaction.transactionIdentifier, of: transaction.originalTransactionIdentifier, transaction.origin,
            in: transaction.app ?? "", to: transaction.path(of: user, "store-actions"), services, context)
    }
}

extension StoreActionRoutes {
    /// The actions at a store about a purchase: those that were asked for, and the forms of others.
    ///
    /// - Parameters:
    ///   - original: The original transaction.
    ///   - app: The bundle identifier.
    ///   - path: The path that takes the forms.
    static func actions(
        about transaction: String, of original: String, _ origin: Origin, in app: String, to path: ConsolePath,
        _ services: any ConsoleServices, _ context: ConsoleContext
    ) async throws -> HTML {
        var asked: [StoreAction] = []
        for reference in Set([transaction, original].map { ByteKey($0) }).sorted() {
            asked += try await services.storeActions.actions(about: reference.text, limit: CustomerView.listed)
                .filter { $0.key.origin == origin && $0.key.app.hasSameBytes(as: app) }
        }
        asked.sort { $0.position > $1.position }
        let keys = try await services.ledger.apiKeyNames()
        let offers = try await services.storeActions.offers(about: transaction, origin, in: app)
            .filter { context.may($0.kind.permission) }
        var hasUnreadableItems = false
        if context.may(.support) {
            hasUnreadableItems = try await services.storeActions.hasUnreadableItems(
                about: transaction, origin, in: app)
        }
        return HTML {
            if !asked.isEmpty {
                part("Store actions") { table(of: asked, services.names, keys, context, next: nil) }
            }
            if !offers.isEmpty || hasUnreadableItems {
                part("Ask the store") {
                    if hasUnreadableItems {
                        note(
                            "An item of this purchase has another form than Apple documents, so nothing below names it. Send Apple's request with till actions request."
                        )
                    }
                    for offer in offers {
                        form(offer.kind, at: offer.endpoint, of: offer.items, to: path, context, services.randomness)
                    }
                }
            }
        }
    }
}
