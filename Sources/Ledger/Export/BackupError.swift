import Commerce

/// Why a ledger was not copied into a file.
public enum BackupError: CodedError, Equatable {
    case exists(path: String)
    case notWritten(path: String)
    /// The database was lost.
    case interrupted

    public var code: String {
        switch self {
        case .exists: "backupExists"
        case .notWritten: "backupNotWritten"
        case .interrupted: "backupInterrupted"
        }
    }

    public var message: String {
        switch self {
        case .exists(let path): "\(path) is there already, and nothing is written over it: name another file."
        case .notWritten(let path):
            "\(path) cannot be written: check that its folder exists, its disk, and who may write there."
        case .interrupted: "The database was lost while it was read: try again."
        }
    }
}
