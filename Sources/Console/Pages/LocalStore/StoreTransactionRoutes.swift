import AppStore
import HTTPSupport
import Hummingbird
import Proofs

/// The receivers of the actions on a transaction of the local store.
extension LocalStoreRoutes {
    func addTransactions(to pages: ConsolePages) {
        pages.post("store/transactions/:transaction/redeem", .store) { request, context in
            let identifier = try context.parameters.text("transaction")
            try await redeem(identifier, for: try context.form[Self.user], by: try context.requiredMember.actor)
            return try StoreSelection(request).with(.transaction, identifier).path(done: .redeemed)
        }
        for action in TransactionAction.allCases {
            pages.postStore(RouterPath("store/transactions/:transaction/\(action.rawValue)")) { request, context in
                let (selection, identifier) = (try StoreSelection(request), try context.parameters.text("transaction"))
                var values = TransactionAction.Parameters()
                for input in action.inputs { try input.read(context.form, &values) }
                try store.perform(action, values, on: identifier)
                let next = action == .delete ? selection : selection.with(.transaction, identifier)
                return next.path(done: action.notice)
            }
        }
    }
}

/// A field of an action's form, which gives one of the parameters.
struct ActionInput {
    let html: HTML
    let read: @Sendable (ConsoleForm, inout TransactionAction.Parameters) throws(Problem) -> Void

    init<Value>(_ field: Field<Value>, _ path: WritableKeyPath<TransactionAction.Parameters, Value> & Sendable) {
        html = field.html()
        read = { form, values throws(Problem) in values[keyPath: path] = try form[field] }
    }
}

extension TransactionAction {
    private static let requestReason = Field.choice(
        "request-reason", "Reason of the customer", ConsumptionRequestReason.allCases, expected: "a reason of the list",
        text: \.rawValue, shown: \.title, chosen: .other, isRequired: true, parse: { .init(rawValue: $0) })
    private static let refundReason = Field.choice(
        "refund-reason", "Reason", RevocationReason.allCases, expected: "a reason of the list",
        text: { String($0.rawValue) }, shown: { StoreWords.title($0) })
    private static let refundedPercentage = Field.text(
        "refund-percentage", "Percentage to refund", inputMode: "decimal", maximumLength: 7,
        note: "Such as 66.66. Empty for the whole price."
    ).optional("a percentage above 0 and up to 100") { text in
        Price(majorUnits: text, currency: "").map { Int($0.milliunits) }
            .flatMap { (1...Transaction.Revocation.whole).contains($0) ? $0 : nil }
    }
    private static let hasGracePeriod = Field.choice(
        "then", "Afterwards", [false, true], expected: "a state of the list",
        text: { String(status(afterFailure: $0).rawValue) },
        shown: { StoreWords.word(status(afterFailure: $0)).title }, isRequired: true,
        parse: { $0 == String(status(afterFailure: true).rawValue) })
    private static let price = Field.text(
        "price", "New price", inputMode: "decimal", maximumLength: 13, isRequired: true,
        note: "In the storefront's currency, such as 5.99."
    ).parsed("an amount such as 5.99") { Price(majorUnits: $0, currency: "")?.milliunits }

    private static let seats = Field<Int>.number(
        "seats", "Seats after the change", in: Seats.quantities,
        expected: "a number from \(Seats.quantities.lowerBound) to \(Seats.quantities.upperBound)")

    private static func member(_ label: Phrase) -> ActionInput {
        ActionInput(.text("member", label, upTo: Store.maximumAccountLength, isRequired: true), \.member)
    }

    private static func status(afterFailure hasGracePeriod: Bool) -> Status {
        hasGracePeriod ? .billingGracePeriod : .billingRetry
    }

    var inputs: [ActionInput] {
        switch self {
        case .requestRefund: [ActionInput(Self.requestReason, \.requestReason)]
        case .refund:
            [
                ActionInput(Self.refundReason, \.refundReason),
                ActionInput(Self.refundedPercentage, \.refundedPercentage),
                ActionInput(.checkbox("refund-rest", "Refund only what is left or not consumed"), \.isRefundProrated),
            ]
        case .share: [Self.member("Account of the family member")]
        case .acceptInvitation: [Self.member("Account of the member")]
        case .failRenewal: [ActionInput(Self.hasGracePeriod, \.hasGracePeriod)]
        case .changeSeats: [ActionInput(Self.seats, \.seats)]
        case .requestPriceIncrease:
            [
                ActionInput(Self.price, \.price),
                ActionInput(
                    .checkbox("needs-consent", "The customer has to consent", isChecked: true), \.needsConsent),
            ]
        default: []
        }
    }

    /// The parts of the inspector.
    static let groups: [(title: Phrase, actions: [TransactionAction])] = [
        ("Refund", [.requestRefund, .refund, .declineRefund, .reverseRefund]),
        (
            "Renewal",
            [
                .forceRenewal, .failRenewal, .resolveBillingIssue, .expire, .turnAutoRenewOff, .turnAutoRenewOn,
                .moveSubscription,
            ]
        ),
        ("Price", [.requestPriceIncrease, .consentToPriceIncrease, .declinePriceIncrease]),
        ("Family and seats", [.share, .revokeFamilySharing, .changeSeats, .acceptInvitation, .revokeSeat]),
    ]

    /// False for an action that a button starts at once.
    var hasForm: Bool { !inputs.isEmpty || self == .delete }

    fileprivate var notice: Notice {
        switch self {
        case .refund: .refunded
        case .declineRefund, .declinePriceIncrease: .declined
        case .delete: .removed
        default: .performed
        }
    }
}

/// The retention message that a customer sees who may cancel a subscription.
extension LocalStoreRoutes {
    private static let locale = Field.text(
        "locale", "Locale of the customer", maximumLength: 35, note: "Such as en-US. Empty takes that of the settings."
    ).optional("a locale") { $0 }

    func addRetention(to pages: ConsolePages) {
        pages.post("store/transactions/:transaction/retention", .store) { _, context in
            let identifier = try context.parameters.text("transaction")
            let locale = try context.form[Self.locale]
            return Self.page(
                of: try await store.requestRetentionMessage(for: identifier, locale: locale), for: identifier)
        }
    }

    /// The form that asks the app's server for a message about a subscription.
    static func retentionForm(to receiver: ConsolePath, _ context: ConsoleContext) -> HTML {
        context.action("Ask your server for a retention message", to: receiver, submit: "Ask") {
            locale
            p {
                "The store sends a signed realtime request to the address that your server has set, and shows the answer and the message that the customer would see."
            }
        }
    }

    private static func page(of exchange: RetentionExchange, for identifier: String) -> Page {
        LocalStoreTab.page("Retention message", nil) {
            Facts.card {
                fact("Subscription") { StoreRows.transaction(identifier) }
                fact("Sent to") { Shown.identifier(exchange.url) }
                fact("Answer") { code { plain(exchange.status.map(String.init) ?? exchange.result) } }
                fact("Answered after") { plain("\(exchange.milliseconds) ms") }
                fact("The customer sees") { code { plain(exchange.shown) } }
                fact("Message") { Shown.identifier(exchange.messageIdentifier) }
                fact("The answer is not used, because") { exchange.refusal.map(plain) }
            }
            if let body = exchange.body { StoreRows.signed("Body of the answer", "answer", body) }
            StoreRows.signed("Signed payload (JWS)", "payload", exchange.signedPayload)
        }
    }
}
