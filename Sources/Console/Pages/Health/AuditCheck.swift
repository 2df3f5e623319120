import Entitlements
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

    init(_ services: any ConsoleServices) {
        entitlements = services.entitlements
        clock = services.clock
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
                let verification = try await entitlements.ledger.verifyAudit(continuing: current.verification)
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

extension HealthRoutes {
    /// The verification of the audit logs: its button and its result.
    ///
    /// - Parameter progress: Nil if none ran since the start of the service.
    @HTMLBuilder static func verification(_ progress: AuditCheck.Progress?, _ context: ConsoleContext) -> HTML {
        h2(.id("audit")) { "Audit log" }
        section(.class("card")) {
            p {
                "Each record of a customer has a digest over the record before it. The verification computes all of them in the background."
            }
            if let progress {
                result(progress)
            } else {
                emptyNote("Not verified since the start of the service.")
            }
            div(.class("actions")) {
                if context.may(.administer), progress?.isRunning != true {
                    context.form(to: ConsolePath("health", "verification")) {
                        button { progress?.failure == nil ? "Verify the audit log" : "Continue the verification" }
                    }
                }
                if progress?.isRunning == true {
                    a(.class("button"), .href(ConsolePath("health"))) { "Show the progress" }
                }
            }
        }
    }

    @HTMLBuilder private static func result(_ progress: AuditCheck.Progress) -> HTML {
        let verification = progress.verification
        p(.role("status")) { state(progress) }
        Facts.list {
            fact("Users verified") { Shown.number(verification.users) }
            fact("Records verified") { Shown.number(verification.records) }
            fact("Started") { Shown.moment(progress.startedAt) }
            fact("Ended") { Shown.moment(progress.endedAt) }
        }
        if let failure = progress.failure {
            if let sentence = ErrorSentences.phrase(of: failure) {
                p(.class("problem")) { sentence }
            } else {
                p(.class("problem"), HTMLAttribute("lang", "en")) { plain(failure.detail) }
            }
        }
        if !verification.breaks.isEmpty { breaks(verification.breaks) }
    }

    private static func state(_ progress: AuditCheck.Progress) -> HTML {
        let verification = progress.verification
        if !verification.breaks.isEmpty { return Shown.badge("Broken", .bad) }
        if progress.isRunning { return Shown.badge("Running") }
        if progress.failure != nil { return Shown.badge("Interrupted", .warning) }
        return Shown.badge("Unbroken", .good)
    }

    private static func breaks(_ breaks: [AuditVerification.Break]) -> HTML {
        Listing.table("Changed logs", of: breaks, empty: "None.") {
            column("User") { one in
                if let user = one.user {
                    Shown.customer(user)
                } else {
                    "a user with an invalid name"
                }
            }
            column("First record that does not follow") {
                "Record \($0.number) or an earlier one was changed or removed."
            }
        }
    }
}
