import AppStore
import Features
import Foundation
import HTTPSupport
import Ledger
import Proofs

/// The fields of a purchase at the local store.
struct StorePurchaseForm: Sendable {
    static let user = FormField.text(
        "user", "Redeem for the user", maximumLength: User.maximumLength, isRequired: true,
        note: "Hands the proof to the service as the app of this user would, and finishes the transaction."
    ).parsed("a user's name of at most \(User.maximumLength) bytes, without spaces and control characters") {
        User(name: $0)
    }
    static let token = FormField.text(
        "token", "Account token (appAccountToken)", maximumLength: 36,
        note: "Empty sends the service's token of the user, as an app does. If you only buy, it sends none."
    ).optional("a UUID") { UUID(uuidString: $0) }
    static let outcome = FormField.choice(
        "outcome", "Outcome",
        [.purchased, .deferred, .interrupted] + SKErrorCode.allCases.map { .failed($0) },
        expected: "purchased, deferred, interrupted or an SKError by its name", text: \.name,
        shown: { outcome in
            switch outcome {
            case .purchased: "Purchased, by the settings"
            case .deferred: "Deferred: Ask to Buy"
            case .interrupted: "Interrupted"
            case .failed(let error): "Fails with \(error.name)"
            }
        }, isRequired: true, parse: { PaymentOutcome(name: $0) })
    /// The name and the value of the button that also redeems the purchase.
    static let then = "then"
    static let redeem = "redeem"

    let account: String
    let outcome: PaymentOutcome
    /// The user of the service for whom the app redeems the purchase; nil if it does not.
    let user: User?
    /// The account token of the purchase; nil if the field is empty.
    let token: UUID?
    private let product: String
    private let quantity: Int
    private let offer: Payment.OfferChoice?

    init(_ form: ConsoleForm) throws {
        account = try form.requiredText("account", upTo: Store.maximumAccountLength)
        outcome = try form[Self.outcome]
        user = try form.text(Self.then) == Self.redeem ? form[Self.user] : nil
        token = try form[Self.token]
        product = try form.requiredText("product")
        quantity = try form.integer("quantity") ?? 1
        offer = try form[Self.offer([])]
    }

    func payment(token: UUID?) -> Payment {
        Payment(productIdentifier: product, quantity: quantity, appAccountToken: token, offer: offer)
    }

    /// The offer of one of some products, as `KIND IDENTIFIER`. An introductory offer needs no request.
    static func offer(_ products: [Product]) -> FormField<Payment.OfferChoice?> {
        var choices: [(value: String, title: Phrase)] = [("", "None, or the introductory offer for a new customer")]
        for product in products {
            for offer in product.subscription?.offers ?? [] {
                guard let identifier = offer.identifier else { continue }
                let title: Phrase = "\(offer.kind.title) \(identifier) (\(product.productIdentifier))"
                choices.append(("\(offer.kind.name) \(identifier)", title))
            }
        }
        return FormField.choice("offer", "Offer", choices).optional("an offer of the list") { text in
            let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
            guard parts.count == 2, let kind = SubscriptionOffer.Kind(name: parts[0]), kind != .introductory else {
                return nil
            }
            return Payment.OfferChoice(kind: kind, identifier: parts[1])
        }
    }
}

/// The app's part of a purchase: it hands the proof to the service, and finishes the transaction once the service has
/// recorded it.
struct StoreRedemption: Sendable {
    let store: Store
    let entitlements: EntitlementService

    /// - Throws: `RedemptionError` if no purchase of the proof is the user's. The transaction then stays in the queue.
    func redeem(_ transactionIdentifier: String, for user: User, by actor: AuditActor) async throws {
        let proof = Array(
            try await BlockingWork.run { [store] in
                try store.read { try $0.signedTransaction(of: transactionIdentifier) }
            }.utf8)
        let redemption: Redemption
        do {
            redemption = try await entitlements.redeem(proof, for: user, by: actor)
        } catch {
            // The refusal is shown even if it cannot be recorded.
            try? await entitlements.recordRefusal(error, for: user, by: actor) {
                entitlements.claims(ofAuthentic: proof)
            }
            throw error
        }
        guard redemption.transactions.allSatisfy(\.mayFinish) else { return }
        try await BlockingWork.run { [store] in
            let listed = try store.read { try $0.listedTransaction(transactionIdentifier) }
            guard let payment = listed.payment?.transaction, payment.state.isAwaitingFinish else { return }
            _ = try store.perform(.finish, on: payment.identifier)
        }
    }

    /// The purchases at the service that have the transaction, each with its owner.
    func owners(of transactionIdentifier: String) async throws -> [KnownPurchase] {
        try await entitlements.purchases(ofTransaction: transactionIdentifier)
    }
}
