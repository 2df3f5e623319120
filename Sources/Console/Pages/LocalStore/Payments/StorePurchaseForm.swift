import AppStore
import Foundation
import HTTPSupport
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
