import Entitlements
import Features
import HTTPSupport
import Proofs
import Service
import Vocabulary

/// The door of RevenueCat's SDKs.
extension Simulation {
    /// Sends a signed transaction as an SDK does, which finishes it after each answer below 500.
    ///
    /// - Returns: Nil for another proof.
    /// - Throws: `NoAnswer` for an answer after which the SDK keeps the transaction.
    func redeemAtDoor(_ post: Post, _ service: EntitlementService) async throws -> Redemption? {
        guard let customer = CustomerIdentifier(post.user), post.proof.count(where: { $0 == UInt8(ascii: ".") }) == 2,
            let purchase = purchases(in: post).first
        else { return nil }
        let body = JSONValue.object([
            "app_user_id": .string(customer.text), "fetch_token": .string(String(decoding: post.proof, as: UTF8.self)),
            "product_id": .string(purchase.productIdentifier),
        ])
        let door = DoorServices(
            Till(service, clock: service.clock),
            RouteSettings(.apiKeys(service.ledger.apiKeys(clock: service.clock, randomness: dice.randomness))))
        func redemption(_ result: Redemption.Result) -> Redemption {
            let line = Redemption.Line(
                transactionId: purchase.transactionIdentifier, productId: purchase.productIdentifier, result: result)
            return Redemption(outcome: .unchanged, transactions: [line], items: [])
        }
        do {
            _ = try await door.record(
                try ReceiptRequest(Array(body.compactText.utf8)),
                from: .publicApp(key: "appl_simulation", app: post.app.bundleIdentifier))
        } catch {
            let problem =
                error as? RevenueCatProblem ?? RevenueCatProblem(Problem(error) ?? .unexpected, at: .receipts)
            guard problem.status < 500 else { throw NoAnswer() }
            story.append("the door refused \(purchase.transactionIdentifier) to \(post.user): \(error)")
            // The SDK finishes the transaction, and another customer has it.
            return redemption(.alreadyRedeemed)
        }
        let answer = redemption(.alreadyRedeemed)
        acknowledge(answer, of: post)
        return answer
    }
}
