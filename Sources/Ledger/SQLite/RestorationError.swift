import Proofs

/// The reason why a backup does not replace the ledger.
package enum RestorationError: CodedError, Equatable {
    /// Another process has the ledger open.
    case inUse(path: String)
    /// The backup is the ledger itself.
    case sameFile(path: String)
    case unreadable(path: String)
    case notALedger(path: String)
    case otherVersion(path: String)
    /// The backup breaks rules. `problems` has a sentence for each.
    case inconsistent(path: String, problems: [String])

    package var code: String {
        switch self {
        case .inUse: "restorationLedgerInUse"
        case .sameFile: "restorationIsTheLedger"
        case .unreadable: "restorationUnreadable"
        case .notALedger: "restorationNotALedger"
        case .otherVersion: "restorationOtherVersion"
        case .inconsistent: "restorationUnsound"
        }
    }

    package var message: String {
        switch self {
        case .inUse(let path):
            "\"\(path)\" is in use. Stop the service and every other till command on it, then try again."
        case .sameFile(let path): "\"\(path)\" is the ledger itself. Name a backup of it."
        case .unreadable(let path):
            "\"\(path)\" cannot be read. Check that it is a file, and that this user may read it."
        case .notALedger(let path):
            "\"\(path)\" is not a ledger, or is damaged. Name another backup; the ledger in place is unchanged."
        case .otherVersion(let path):
            "\"\(path)\" was written by another version of Till. Restore it with that version."
        case .inconsistent(let path, let problems):
            "\"\(path)\" is damaged. Name another backup; the ledger in place is unchanged. "
                + problems.joined(separator: " ")
        }
    }
}
