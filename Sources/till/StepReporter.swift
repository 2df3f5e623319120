import Commerce
import Device
import Foundation
import Synchronization

/// Tells the steps of a purchase as they happen, and plays the app's death at one of them.
final class StepReporter: Sendable {
    private let console: Console
    /// The name of the step after which the process kills itself.
    private let fatalStep: String?
    /// Guards the refusals met on the way.
    private let refusals = Mutex<[ServiceRefusal]>([])

    init(console: Console, fatalStep: String? = nil) {
        self.console = console
        self.fatalStep = fatalStep
    }

    /// The names of all steps at which the app can die.
    static let stepNames = [
        "paymentAdded", "deferred", "purchased", "failed", "restored", "proofObtained", "redeemed", "refused",
        "finished",
    ]

    /// The first refusal met, if any.
    var firstRefusal: ServiceRefusal? { refusals.withLock { $0.first } }

    func report(_ step: DeviceStep) {
        console.line(Self.text(step))
        if case .refused(_, let refusal) = step { refusals.withLock { $0.append(refusal) } }
        if step.name == fatalStep { kill(getpid(), SIGKILL) }
    }

    private static func text(_ step: DeviceStep) -> String {
        switch step {
        case .paymentAdded(let transaction): named("purchasing", transaction, transaction.payment.productIdentifier)
        case .updated(let transaction):
            named(
                transaction.state.rawValue, transaction,
                [transaction.payment.productIdentifier, transaction.purchase?.price.formatted, transaction.error?.name]
                    .compactMap(\.self).joined(separator: "  "))
        case .proofObtained(let transaction): named("proof read", transaction, "")
        case .redeemed(let transaction, let redemption): named("redeemed", transaction, redemption.outcome.rawValue)
        case .refused(let transaction, let refusal): named("refused", transaction, refusal.code)
        case .finished(let transaction): named("finished", transaction, "")
        }
    }

    private static func named(_ step: String, _ transaction: PaymentTransaction, _ detail: String) -> String {
        let padded = step + String(repeating: " ", count: max(0, 12 - step.count))
        return "\(padded)#\(transaction.identifier)" + (detail.isEmpty ? "" : "  \(detail)")
    }
}
