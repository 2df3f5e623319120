import AppStore
import Features
import Foundation
import HTTPSupport
import Ledger
import Proofs

/// The fields of a purchase at the local store.
struct StorePurchaseForm: Sendable {
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
        guard let outcome = PaymentOutcome(name: try form.requiredText("outcome")) else {
            throw ConsoleForm.invalid("outcome", "purchased, deferred, interrupted or an SKError by its name")
        }
        self.outcome = outcome
        user = try form.text(Self.then) == Self.redeem ? Self.requiredUser(form) : nil
        token = try Self.token(form)
        product = try form.requiredText("product")
        quantity = try form.integer("quantity") ?? 1
        offer = try Self.offer(form)
    }

    func payment(token: UUID?) -> Payment {
        Payment(productIdentifier: product, quantity: quantity, appAccountToken: token, offer: offer)
    }

    /// The name and the value of the button that also redeems the purchase.
    static let then = "then"
    static let redeem = "redeem"

    static func requiredUser(_ form: ConsoleForm) throws(Problem) -> User {
        guard let user = User(name: try form.requiredText("user")) else {
            throw ConsoleForm.invalid(
                "user", "a user's name of at most \(User.maximumLength) bytes, without spaces and control characters")
        }
        return user
    }

    /// The account token of a form; nil if the field is empty.
    private static func token(_ form: ConsoleForm) throws(Problem) -> UUID? {
        let text = try form.text("token")
        guard !text.isEmpty else { return nil }
        guard let token = UUID(uuidString: text) else { throw ConsoleForm.invalid("token", "a UUID") }
        return token
    }

    /// The offer of a form, as `KIND IDENTIFIER`; nil if the field is empty.
    private static func offer(_ form: ConsoleForm) throws(Problem) -> Payment.OfferChoice? {
        let text = try form.text("offer")
        guard !text.isEmpty else { return nil }
        let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2, let kind = SubscriptionOffer.Kind(name: parts[0]), kind != .introductory else {
            throw ConsoleForm.invalid("offer", "an offer of the list")
        }
        return Payment.OfferChoice(kind: kind, identifier: parts[1])
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
            try await BlockingWork.run { [store] in try store.signedTransaction(of: transactionIdentifier) }.utf8)
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
            let listed = try store.listedTransaction(transactionIdentifier)
            guard let payment = listed.payment?.transaction, payment.state.isAwaitingFinish else { return }
            _ = try store.perform(.finish, on: payment.identifier)
        }
    }

    /// The purchases at the service that have the transaction, each with its owner.
    func owners(of transactionIdentifier: String) async throws -> [KnownPurchase] {
        try await entitlements.purchases(ofTransaction: transactionIdentifier)
    }
}
