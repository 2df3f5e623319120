import Commerce

/// Why an exported ledger was not taken in; nothing of it was.
public enum ImportError: CodedError, Equatable {
    case notEmpty
    case unreadable(path: String)
    /// - line: From 1 on.
    case lineInvalid(Int)
    case versionOther(Int)
    /// It ends before its last line, or that tells of other lines.
    case incomplete
    /// The database was lost, or others wrote to it.
    case interrupted
    /// Sentences about the ledger that it would be.
    case unsound([String])

    public var code: String {
        switch self {
        case .notEmpty: "importNotEmpty"
        case .unreadable: "importUnreadable"
        case .lineInvalid: "importLineInvalid"
        case .versionOther: "importVersionOther"
        case .incomplete: "importIncomplete"
        case .interrupted: "importInterrupted"
        case .unsound: "importUnsound"
        }
    }

    public var message: String {
        switch self {
        case .notEmpty: "The ledger has something in it already: take an exported one into a data directory of its own."
        case .unreadable(let path): "\(path) cannot be read: check that it exists, and who may read it."
        case .lineInvalid(let line): "Line \(line) is none of an exported ledger; nothing was taken in."
        case .versionOther(let version):
            "The file has version \(version) of the ledger. This Till imports versions \(LedgerSchema.earliestVersion) to "
                + "\(LedgerSchema.version)."
        case .incomplete: "The file was cut off or changed since it was exported; nothing was taken in."
        case .interrupted:
            "The database was lost, or somebody else wrote to it; nothing was taken in: try again while no service runs on it."
        case .unsound(let problems):
            "The file holds no sound ledger; nothing was taken in. " + problems.joined(separator: " ")
        }
    }
}
