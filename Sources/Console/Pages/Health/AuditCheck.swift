import Features
import HTTPSupport
import Ledger
import Proofs

/// The verification of the audit logs in the background. It pauses after each page, so that other work comes first.
actor AuditCheck {
    struct Progress: Sendable {
        var verification = AuditVerification()
        let startedAt: Timestamp
        /// The time of the end or of the interruption; nil while the verification runs.
        var endedAt: Timestamp?
        /// The error that interrupted the verification; nil for none.
        var failure: Problem?

        var isRunning: Bool { endedAt == nil }
    }

    private static let pause = Duration.milliseconds(5)
    /// The waits of the answer to the start, for a short verification.
    private static let wait = Duration.milliseconds(20)
    private static let waits = 50

    private let entitlements: EntitlementService
    private let clock: any WallClock
    /// The last verification since the start of the service; nil for none.
    private(set) var progress: Progress?

    init(_ entitlements: EntitlementService, clock: any WallClock) {
        self.entitlements = entitlements
        self.clock = clock
    }

    /// Starts a verification, or continues an interrupted one. A running one goes on.
    func start() async {
        guard progress?.isRunning != true else { return }
        let interrupted = progress.flatMap { $0.failure == nil ? nil : $0.verification }
        progress = Progress(verification: interrupted ?? AuditVerification(), startedAt: clock.now())
        Task(priority: .low) { await verify() }
        // A short verification has ended before the page is shown.
        for _ in 0..<Self.waits where progress?.isRunning == true { try? await Task.sleep(for: Self.wait) }
    }

    private func verify() async {
        while let current = progress, current.isRunning {
            do {
                let verification = try await entitlements.verifyAudit(continuing: current.verification)
                progress?.verification = verification
                if verification.isComplete {
                    progress?.endedAt = clock.now()
                    return
                }
                try await Task.sleep(for: Self.pause)
            } catch {
                progress?.failure = Problem(error) ?? .unexpected
                progress?.endedAt = clock.now()
            }
        }
    }
}
