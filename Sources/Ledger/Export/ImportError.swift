import Proofs

/// The reason why an exported ledger was not imported. The ledger is unchanged.
package enum ImportError: CodedError, Equatable {
    case notEmpty
    case unreadable(path: String)
    /// The line, counted from 1.
    case lineInvalid(Int)
    case versionOther(Int)
    /// The last line is missing, or its number of rows or its digest differs.
    case incomplete
    /// The connection to the database was lost, or another process wrote to it.
    case interrupted
    /// The problems of the imported ledger, a sentence each.
    case inconsistent([String])

    package var code: String {
        switch self {
        case .notEmpty: "importNotEmpty"
        case .unreadable: "importUnreadable"
        case .lineInvalid: "importLineInvalid"
        case .versionOther: "importVersionOther"
        case .incomplete: "importIncomplete"
        case .interrupted: "importInterrupted"
        case .inconsistent: "importUnsound"
        }
    }

    package var message: String {
        switch self {
        case .notEmpty: "The ledger is not empty. Import into an empty ledger, such as a new data directory."
        case .unreadable(let path): "\"\(path)\" cannot be read. Check that it exists, and that this user may read it."
        case .lineInvalid(let line):
            "Line \(line) is not a line of an exported ledger. Nothing was imported; export the ledger again."
        case .versionOther(let version):
            "The file is an export of version \(version) of the ledger, which this Till does not import. Import it with the Till "
                + "that wrote it, or export the ledger again with this one."
        case .incomplete:
            "The file was truncated or changed after its export. Nothing was imported; export the ledger again."
        case .interrupted:
            "The connection to the database was lost, or another process wrote to it. Nothing was imported; stop the services "
                + "on it and try again."
        case .inconsistent(let problems):
            "The ledger in the file breaks its rules. Nothing was imported. " + problems.joined(separator: " ")
        }
    }
}
