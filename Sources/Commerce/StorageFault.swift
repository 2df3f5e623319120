/// What a database on disk can suffer, in words an operator can act on.
public struct StorageFault: CodedError, Equatable {
    /// What happened to it.
    public enum Cause: String, Sendable, CaseIterable {
        case diskFull
        case readOnly
        case busy
        case damaged
        case cannotOpen
        /// The file was written by a newer version of Till.
        case newerVersion
        /// The file was written by an earlier version of Till, and was not to be changed.
        case olderVersion
        /// The file was written by a version of Till that this one cannot take over from.
        case outdatedVersion
        /// There is none in the database, and none was to be made.
        case missing
        /// A database server does not answer, or lets nobody in.
        case unreachable
        case failed
        /// It could not be made sure that what was written is on the disk.
        case stopped
        /// Too many use cases wait for a commit.
        case overloaded
    }

    public let cause: Cause
    /// The file, or the database's address without its password, as it was named.
    public let path: String

    public init(cause: Cause, path: String) {
        self.cause = cause
        self.path = path
    }

    /// The cause behind a primary result code of SQLite (https://www.sqlite.org/rescode.html).
    public init(sqliteResultCode code: Int32, path: String) {
        let cause: Cause =
            switch code {
            case 13: .diskFull
            case 3, 8: .readOnly
            case 5, 6: .busy
            case 11, 26: .damaged
            case 14: .cannotOpen
            default: .failed
            }
        self.init(cause: cause, path: path)
    }

    public var code: String {
        // The code of every refusal for want of a place.
        if cause == .overloaded { return "tooBusy" }
        return "storage" + cause.rawValue.prefix(1).uppercased() + cause.rawValue.dropFirst()
    }

    public var message: String {
        switch cause {
        case .diskFull: "The disk is full, so nothing was written to \(path): free some space and try again."
        case .readOnly: "\(path) cannot be written: check who owns it and its folder."
        case .busy: "\(path) is in use by another process that does not let go: try again, or end that process."
        case .damaged: "\(path) is damaged or no database of Till's: put a backup in its place."
        case .cannotOpen:
            "\(path) cannot be opened for writing: check that its folder exists, its disk, and who may write there."
        case .newerVersion: "\(path) was written by a newer version of Till: use that version, or a backup."
        case .olderVersion:
            "\(path) was written by an earlier version of Till: `till serve` takes it over when it starts; then try again."
        case .outdatedVersion:
            "\(path) was written by a Till from before ledger version 14. Start a Till of ledger version 14 or 15 on it, then try "
                + "again."
        case .missing: "There is no ledger in \(path) yet: `till serve` makes it when it starts."
        case .unreachable:
            "\(path) does not answer, or lets nobody in: check that the server runs and is the primary, and the user, the password "
                + "and the database's name; `psql` with the same address tells more."
        case .stopped:
            "\(path) may not have reached the disk, so nothing more is read or written: check the disk, then start again; "
                + "what was answered before is kept."
        case .overloaded: "Too many changes wait for a commit to \(path): try again in a moment."
        case .failed:
            "Reading or writing \(path) failed: check the disk, and try again; what is redeemed twice is granted once."
        }
    }
}
