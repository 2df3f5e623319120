import Commerce
import Foundation

/// A ledger that can be moved whole, to another machine or another database.
public protocol MovableLedger: AccountLedger, ProfileLedger, WebhookLedger, CatalogLedger {
    /// Writes everything there is as of one moment as JSON Lines, while others go on writing.
    ///
    /// - Parameter output: Takes whole lines.
    /// - Returns: How many rows there were.
    /// - Throws: `StorageFault`, and what `output` throws.
    func export(to output: (Data) throws(BackupError) -> Void) throws -> Int

    /// Takes in what `export` has written, into a ledger with nothing in it: all, or nothing.
    ///
    /// - Parameter input: The next bytes; nil when there are no more.
    /// - Returns: How many rows there were.
    /// - Throws: `ImportError`, `StorageFault`.
    func importLines(from input: () throws(ImportError) -> Data?) throws -> Int
}
