import Features
import Ledger

/// The JSON output of `till ledger check`.
struct LedgerCheckReport: Encodable {
    private let users: Int
    private let redeemedTransactions: Int
    private let grants: Int
    private let notifications: Int
    /// Nil without `--proofs`.
    private let proofsVerified: Int?
    private let proofsNotKept: Int?
    private let problems: [String]

    init(_ report: LedgerReport, _ proofs: ProofReport?, _ problems: [String]) {
        users = report.users
        redeemedTransactions = report.redeemedTransactions
        grants = report.grants
        notifications = report.notifications
        proofsVerified = proofs?.verified
        proofsNotKept = proofs?.notKept
        self.problems = problems
    }
}
