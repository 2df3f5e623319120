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

/// The verification of the audit logs: its button and its result.
struct AuditCheckCard {
    let context: ConsoleContext
    /// Nil if none ran since the start of the service.
    let progress: AuditCheck.Progress?

    var html: HTML {
        HTML {
            h2(.id("audit")) { Phrase("Audit log", "감사 기록") }
            section(.class("card")) {
                p {
                    Phrase(
                        "Each record of a customer has a digest over the record before it. The verification computes all of them "
                            + "in the background.",
                        "고객의 기록마다 앞선 기록에 대한 다이제스트가 있습니다. 검증은 백그라운드에서 모두 다시 계산합니다.")
                }
                if let progress {
                    result(progress)
                } else {
                    p(.class("empty")) {
                        Phrase("Not verified since the start of the service.", "서비스를 시작한 뒤로 검증하지 않았습니다.")
                    }
                }
                div(.class("actions")) {
                    if context.may(.administer), progress?.isRunning != true {
                        context.form(to: ConsolePath("health", "verification")) {
                            button {
                                progress?.failure == nil
                                    ? Phrase("Verify the audit log", "감사 기록 검증")
                                    : Phrase("Continue the verification", "검증 계속하기")
                            }
                        }
                    }
                    if progress?.isRunning == true {
                        a(.class("button"), .href(ConsolePath("health"))) { Phrase("Show the progress", "진행 상황 보기") }
                    }
                }
            }
        }
    }

    private func result(_ progress: AuditCheck.Progress) -> HTML {
        let verification = progress.verification
        return HTML {
            p(.role("status")) { state(progress) }
            Facts.list([
                (Phrase("Users verified", "검증한 사용자"), Shown.number(Int64(verification.users))),
                (Phrase("Records verified", "검증한 기록"), Shown.number(Int64(verification.records))),
                (Phrase("Started", "시작"), Shown.moment(progress.startedAt)),
                (Phrase("Ended", "끝"), Shown.moment(progress.endedAt)),
            ])
            if let failure = progress.failure {
                if let sentence = ErrorSentences.phrase(of: failure) {
                    p(.class("problem")) { sentence }
                } else {
                    p(.class("problem"), HTMLAttribute("lang", "en")) { plain(failure.detail) }
                }
            }
            if !verification.breaks.isEmpty { breaks(verification.breaks) }
        }
    }

    private func state(_ progress: AuditCheck.Progress) -> HTML {
        let verification = progress.verification
        if !verification.breaks.isEmpty { return Shown.badge(Phrase("Broken", "끊어짐"), .bad) }
        if progress.isRunning { return Shown.badge(Phrase("Running", "실행 중")) }
        if progress.failure != nil { return Shown.badge(Phrase("Interrupted", "중단됨"), .warning) }
        return Shown.badge(Phrase("Unbroken", "온전함"), .good)
    }

    private func breaks(_ breaks: [AuditVerification.Break]) -> HTML {
        Listing.table(Phrase("Changed logs", "변경된 기록"), of: breaks, empty: Phrase("None.", "없습니다.")) {
            column(Phrase("User", "사용자")) { one in
                if let user = one.user {
                    Shown.customer(user)
                } else {
                    Phrase("a user with an invalid name", "이름이 잘못된 사용자")
                }
            }
            column(Phrase("First record that does not follow", "이어지지 않는 첫 기록")) {
                Phrase(
                    "Record \($0.number) or an earlier one was changed or removed.",
                    "\($0.number)번 기록이나 그 앞의 기록이 바뀌었거나 삭제되었습니다.")
            }
        }
    }
}
