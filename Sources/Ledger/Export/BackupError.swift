import Proofs

/// The reason why a backup or an export was not written.
package enum BackupError: CodedError, Equatable {
    case exists(path: String)
    case notWritten(path: String)
    /// The connection to the database was lost.
    case interrupted

    package var code: String {
        switch self {
        case .exists: "backupExists"
        case .notWritten: "backupNotWritten"
        case .interrupted: "backupInterrupted"
        }
    }

    package var message: String {
        switch self {
        case .exists(let path): "\"\(path)\" already exists. Choose another file."
        case .notWritten(let path):
            "\"\(path)\" cannot be written. Check that its folder exists, that this user may write there, and that the disk "
                + "has space."
        case .interrupted: "The connection to the database was lost during the read. Try again."
        }
    }
}
