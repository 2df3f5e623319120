import Proofs
import Synchronization

/// A commit of a ledger in PostgreSQL, as callers name it. A read after a position sees this commit and all before it.
///
/// It has the commit's token, not its place in the log (LSN). A standby that shows the token has replayed the commit. After a failover, a
/// server can have another commit at the same place of its log, on another timeline, and a client cannot tell.
package struct LedgerPosition: Hashable, Sendable {
    /// The longest use of a position, in seconds. The tokens of commits are kept for a day.
    private static let maximumAge: Int64 = 12 * 3600
    /// The time after which a standby that may answer shows what the primary has shown, in seconds. It is at most ten behind; the rest is
    /// for clocks that disagree.
    private static let standbyDelay: Int64 = 30
    private static let textLength = 32
    private static let tokenLength = 16

    let token: [UInt8]
    /// The moment from which standbys may answer, in seconds since 1970.
    private let validFrom: Int64

    /// The position after which the reads of this task may be answered by a standby; nil if only the primary may answer.
    @TaskLocal package static var required: LedgerPosition?

    package init(token: [UInt8], at moment: Timestamp) {
        self.init(token, from: moment.secondsSince1970)
    }

    private init(_ token: [UInt8], from validFrom: Int64) {
        self.token = token
        self.validFrom = validFrom
    }

    /// The position that no standby has, for callers who have seen a commit that has no known position.
    package static func ofPrimary(at moment: Timestamp) -> LedgerPosition {
        LedgerPosition(token: Array(repeating: 0, count: tokenLength), at: moment)
    }

    /// A position for callers who have seen all commits before a moment. The commit itself may be an earlier one.
    package func showing(allBefore moment: Timestamp) -> LedgerPosition {
        LedgerPosition(token, from: moment.secondsSince1970 + Self.standbyDelay)
    }

    /// Returns true if standbys that show the commit may answer.
    package func allowsStandbys(at now: Timestamp) -> Bool {
        validFrom <= now.secondsSince1970 && !token.allSatisfy { $0 == 0 }
    }

    /// - Returns: Nil for a text that is no position, and for a position that is too old. The primary answers without one.
    package init?(_ text: some StringProtocol, at now: Timestamp) {
        guard text.utf8.count == Self.textLength, let bytes = Base64.decode(text.utf8, .urlSafe) else { return nil }
        let seconds = Int64(bitPattern: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        guard seconds > now.secondsSince1970 - Self.maximumAge else { return nil }
        self.init(Array(bytes.dropFirst(8)), from: seconds)
    }

    /// The opaque text of the position.
    package var text: String {
        Base64.encode(withUnsafeBytes(of: validFrom.bigEndian) { Array($0) } + token, .urlSafe)
    }
}

/// A record of the last commit of a task's use cases.
package final class CommitReceipt: Sendable {
    /// The receipt of this task; nil if the task needs none.
    @TaskLocal package static var current: CommitReceipt?

    private let noted = Mutex<LedgerPosition?>(nil)

    package init() {}

    /// Nil if the task has committed nothing, and for a ledger without standbys.
    package var position: LedgerPosition? { noted.withLock(\.self) }

    func note(_ position: LedgerPosition) { noted.withLock { $0 = position } }
}
