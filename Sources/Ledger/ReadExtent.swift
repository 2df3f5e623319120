/// The extent of a read.
public enum ReadExtent: Sendable {
    /// The rows of one statement at most, which is of one moment by itself and needs no transaction.
    case statement
    /// The rows of any number of statements, as of one moment.
    case snapshot
    /// The same, of many rows: a thread of its own reads them, so that no request waits for them.
    case longSnapshot
}
