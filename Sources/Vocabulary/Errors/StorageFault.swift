import Proofs

/// A fault of a database, with an instruction for the operator.
public struct StorageFault: CodedError, RuledError, Equatable {
    public enum Cause: String, Sendable, CaseIterable {
        case diskFull
        case readOnly
        case busy
        case damaged
        case cannotOpen
        /// The database was written by a version of Till that this one does not read.
        case otherVersion
        /// The database has no ledger, and none was to be created.
        case missing
        /// A database server does not respond or refuses the login.
        case unreachable
        case failed
        /// The database could not confirm that the written data is on the disk.
        case stopped
        /// Too many use cases wait for a commit.
        case overloaded
    }

    public let cause: Cause
    /// The file, or the address of the database without its password.
    public let path: String
    /// The reason why a database server cannot be used, in the words of its client library; nil if it gave none.
    public let reason: String?

    public init(cause: Cause, path: String, reason: String? = nil) {
        self.cause = cause
        self.path = path
        self.reason = reason
    }

    /// True if the database is a server's.
    package var isOnServer: Bool { path.hasPrefix("postgres://") }

    /// The cause of a primary result code of SQLite (https://www.sqlite.org/rescode.html).
    public init(sqliteResultCode code: Int32, path: String) {
        let cause: Cause =
            switch code {
            case 13: .diskFull
            case 3, 8: .readOnly
            case 5, 6, 9: .busy
            case 11, 26: .damaged
            case 14: .cannotOpen
            default: .failed
            }
        self.init(cause: cause, path: path)
    }

    public var code: String {
        // Every overload has the same code.
        if cause == .overloaded { return ErrorRule.tooBusy.code }
        return "storage" + cause.rawValue.prefix(1).uppercased() + cause.rawValue.dropFirst()
    }

    public var message: String { rule.sentence }

    /// The rule of the fault. Callers do not learn the place of the database.
    package var rule: ErrorRule {
        if cause == .overloaded {
            let busy = ErrorRule.tooBusy
            return ErrorRule(
                code, busy.kind, mayRetry: true, secondsToWait: busy.secondsToWait, sentence, detail: busy.detail,
                korean: busy.korean)
        }
        if cause == .stopped {
            return ErrorRule(
                code, .unavailable, isOfOperator: true, sentence,
                detail:
                    "The service has stopped its ledger after a failed write to the disk. Sending the request again does not "
                    + "help before an operator has restarted the service. What was answered is stored.",
                korean: "디스크 쓰기에 실패하여 서비스가 원장을 멈췄습니다. 운영자가 서비스를 다시 시작하기 전에는 요청을 다시 보내도 소용이 없습니다. 이미 응답한 내용은 저장되어 있습니다.")
        }
        // A failover takes seconds; a server that is another's standby may become the primary.
        let isAway = cause == .unreachable || cause == .readOnly && isOnServer
        return ErrorRule(
            code, cause == .busy || isAway ? .unavailable : .failed,
            mayRetry: cause != .damaged && cause != .otherVersion, secondsToWait: isAway ? Self.secondsToWait : nil,
            sentence,
            detail:
                "The service cannot use its ledger now. Try again later; a purchase that is sent twice is granted once.",
            korean: "서비스가 지금 원장을 사용할 수 없습니다. 나중에 다시 시도하세요. 두 번 보낸 구매도 한 번만 지급됩니다.")
    }

    /// The pause in seconds before a request is sent again to a service whose database server is away.
    private static let secondsToWait = 5

    private var sentence: String {
        let reason = reason.map { " (\($0))" } ?? ""
        return switch cause {
        case .diskFull: "The disk is full, so nothing was written to \"\(path)\". Free some space and try again."
        case .readOnly where isOnServer:
            "\"\(path)\" is a standby or a read replica, or allows no writes\(reason). Name the primary, or all servers: the "
                + "primary is found among them."
        case .readOnly: "Cannot write to \"\(path)\". Check the owner and permissions of the file and its folder."
        case .busy:
            "\"\(path)\" is in use by another process, or a long read of it had to end. Try again, or end that process."
        case .damaged: "\"\(path)\" is damaged or is not a database of Till. Restore a backup."
        case .cannotOpen:
            "\"\(path)\" cannot be opened for writing. Check that its folder exists, its permissions and the disk."
        case .otherVersion:
            "\"\(path)\" was written by another version of Till. Use that version, or a new data directory or database."
        case .missing: "\"\(path)\" contains no ledger. Start `till serve` to create it."
        case .unreachable:
            "\"\(path)\" does not respond or refuses the login\(reason). Check that the server runs and is the primary. Check the user, "
                + "the password and the name of the database, for example with `psql`."
        case .stopped:
            "Data written to \"\(path)\" may not be on the disk, so the ledger was stopped. Check the disk, then restart the "
                + "service. Until then, no request succeeds. Earlier answers stay valid."
        case .overloaded: "Too many changes wait for a commit to \"\(path)\". Try again in a moment."
        case .failed:
            "Cannot read or write \"\(path)\". Check the disk and try again; a purchase that is sent twice is granted once."
        }
    }
}

extension ErrorRule {
    /// A limit of simultaneous work is reached.
    package static let tooBusy = ErrorRule(
        "tooBusy", .unavailable, mayRetry: true, secondsToWait: 1,
        "The service is processing its maximum number of requests of this kind. Try again in a moment.",
        korean: "서비스가 이런 요청을 한도까지 처리하고 있습니다. 잠시 뒤에 다시 시도하세요.")
}
