import AppStore
import Foundation
import Proofs
import Synchronization

/// Prints the steps of a purchase as they happen, and kills the process after one of them.
final class StepReporter: Sendable {
    private let terminal: Terminal
    /// The name of the step after which the process kills itself.
    private let fatalStep: String?
    private let effect: @Sendable (Int64) -> String?
    /// The number of the transaction this launch of the app began; none until its payment is added.
    private let own = Mutex<Int64?>(nil)
    /// The refusals so far, by the transaction's number.
    private let refusals = Mutex<[Int64: ServiceRefusal]>([:])

    /// - Parameter effect: The effect of a payment by its number, in words; nil for one that sold nothing.
    init(
        terminal: Terminal,
        fatalStep: String? = nil,
        effect: @escaping @Sendable (Int64) -> String? = { _ in nil }
    ) {
        self.terminal = terminal
        self.fatalStep = fatalStep
        self.effect = effect
    }

    /// The names of all steps at which the app can die.
    static let stepNames = [
        "paymentAdded", "deferred", "purchased", "failed", "proofObtained", "redeemed", "refused", "finished",
    ]

    /// The transactions that the service refused, with the reasons.
    var refused: [Int64: ServiceRefusal] { refusals.withLock { $0 } }

    func report(_ step: DeviceStep) {
        terminal.line(text(step))
        let identifier = step.transaction.identifier
        switch step {
        case .paymentAdded: own.withLock { $0 = identifier }
        case .refused(_, let refusal): refusals.withLock { $0[identifier] = refusal }
        default: break
        }
        if step.name == fatalStep, own.withLock({ $0 }) == identifier { kill(getpid(), SIGKILL) }
    }

    private func text(_ step: DeviceStep) -> String {
        switch step {
        case .paymentAdded(let transaction):
            Self.named("purchasing", transaction, transaction.payment.productIdentifier)
        case .updated(let transaction):
            Self.named(
                transaction.state.rawValue, transaction,
                [transaction.payment.productIdentifier, effect(transaction.identifier), transaction.error?.name]
                    .compactMap(\.self).joined(separator: "  "))
        case .proofObtained(let transaction): Self.named("proof read", transaction, "")
        case .redeemed(let transaction, let redemption):
            Self.named("redeemed", transaction, redemption.outcome.rawValue)
        case .refused(let transaction, let refusal): Self.named("refused", transaction, refusal.code)
        case .finished(let transaction): Self.named("finished", transaction, "")
        }
    }

    private static func named(_ step: String, _ transaction: PaymentTransaction, _ detail: String) -> String {
        let padded = step + String(repeating: " ", count: max(0, 12 - step.count))
        return "\(padded)#\(transaction.identifier)" + (detail.isEmpty ? "" : "  \(detail)")
    }
}
