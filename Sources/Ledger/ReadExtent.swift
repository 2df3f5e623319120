/// The extent of a read.
package enum ReadExtent: Sendable {
    /// At most one statement. It is a snapshot by itself and needs no transaction.
    case statement
    /// Any number of statements on one snapshot.
    case snapshot
    /// Many rows of one snapshot. A separate thread reads them, so that no request waits for them. In a file, the read fails as
    /// busy if it keeps the write-ahead log from staying within its bound.
    case longSnapshot
}
