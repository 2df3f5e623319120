import Console
import Features
import Synchronization

/// The reconciliations of a test, and the requests to run them.
final class TestReconciliations: Sendable {
    private let listed = Mutex<[ConsoleReconciliation]>([])
    private let requested = Mutex<[String]>([])

    /// The reconciliations that the console shows.
    var all: [ConsoleReconciliation] {
        get { listed.withLock { $0 } }
        set { listed.withLock { $0 = newValue } }
    }

    /// The requested runs: the identifier of the reconciliation, and the subject.
    var requests: [String] { requested.withLock { $0 } }

    /// - Returns: False for a run that was requested before; nil for an unknown identifier.
    func request(_ identifier: String, _ subject: ReconciliationRuns.Subject) -> Bool? {
        guard all.contains(where: { $0.identifier == identifier }) else { return nil }
        let run = "\(identifier) \(subject.rawValue)"
        return requested.withLock { requested in
            guard !requested.contains(run) else { return false }
            requested.append(run)
            return true
        }
    }
}
