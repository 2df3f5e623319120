import AppStore
import HTTPSupport
import Hummingbird
import Proofs

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
        Page("Retention message", section: .localStore) {
            LocalStoreTab.links(nil)
            Facts.card {
                fact("Subscription") { StoreRows.transaction(identifier) }
                fact("Sent to") { Shown.identifier(exchange.url) }
                fact("Answer") { code { plain(exchange.status.map(String.init) ?? exchange.result) } }
                fact("Answered after") { plain("\(exchange.milliseconds) ms") }
                fact("The customer sees") { code { plain(exchange.shown) } }
                fact("Message") { Shown.identifier(exchange.messageIdentifier) }
                fact("The answer is not used, because") {
                    if let refusal = exchange.refusal { plain(refusal) } else { Shown.nothing }
                }
            }
            if let body = exchange.body { StoreRows.signed("Body of the answer", "answer", body) }
            StoreRows.signed("Signed payload (JWS)", "payload", exchange.signedPayload)
        }
    }
}
