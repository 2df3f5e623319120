import Foundation
import Ledger
import Proofs

/// The use cases of exports for analysis: a whole export as one snapshot, or in parts.
package struct ExportService: Sendable {
    /// The allowed numbers of users in a part.
    package static let partSizes = 1...1000
    package static let standardPartSize = 200

    private let ledger: Ledger
    private let clock: any WallClock
    private let product: @Sendable (String) -> Product?

    /// - Parameter product: Returns a product of the catalog; nil if the catalog has none of the identifier.
    package init(ledger: Ledger, clock: any WallClock, product: @escaping @Sendable (String) -> Product?) {
        self.ledger = ledger
        self.clock = clock
        self.product = product
    }

    package struct Part: Sendable {
        package let text: String
        /// The position of the next part; nil after the last.
        package let next: ExportPosition?
    }

    /// Reads the part after a position. All parts leave out records, and events that took effect, after the first part was
    /// read.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of the only app whose transactions are exported; nil for all apps.
    ///   - position: Nil for the first part, which has the header.
    package func part(
        of export: Export,
        in app: String? = nil,
        as format: ExportFormat,
        after position: ExportPosition?,
        users limit: Int
    ) async throws -> Part {
        let text = ExportText(export: export, format: format)
        let start = position ?? ExportPosition(until: clock.now(), user: .min)
        let page = try await ledger.read(.longSnapshot) {
            try ExportRecords(database: $0.database, app: app, product: product)
                .page(of: export, after: start.user, until: start.until, limit: limit)
        }
        return Part(
            text: (position == nil ? text.header : "") + (try text.text(of: page.rows)),
            next: page.last.map { ExportPosition(until: start.until, user: $0) })
    }

    /// Writes an export as one snapshot, while other writes continue. It needs memory for one page.
    ///
    /// - Parameter output: Receives whole lines.
    /// - Returns: The number of rows.
    /// - Throws: `StorageFault`, and the errors of `output`.
    package func write(
        _ export: Export,
        as format: ExportFormat,
        to output: (Data) throws(BackupError) -> Void
    ) throws -> Int {
        let text = ExportText(export: export, format: format)
        let end = Timestamp(millisecondsSince1970: .max)
        var isBegun = false
        return try ledger.storage.read { database in
            // The written part of the file cannot be undone.
            guard !isBegun else { throw BackupError.interrupted }
            isBegun = true
            try output(Data(text.header.utf8))
            var (rows, last) = (0, Int64.min)
            while let next = try {
                let page = try ExportRecords(database: database, app: nil, product: product)
                    .page(of: export, after: last, until: end, limit: Self.standardPartSize)
                try output(Data(try text.text(of: page.rows).utf8))
                rows += page.rows.count
                return page.last
            }() {
                last = next
            }
            return rows
        }
    }
}

/// The position from which an export continues: the last user, and the moment after which records are left out.
package struct ExportPosition: Hashable, Sendable, CustomStringConvertible {
    let until: Timestamp
    let user: Int64

    package var description: String { "\(until.millisecondsSince1970) \(user)" }
}

extension ExportPosition {
    /// - Returns: Nil for a malformed text.
    package init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let until = Int64(parts[0]), let user = Int64(parts[1]) else { return nil }
        self.init(until: Timestamp(millisecondsSince1970: until), user: user)
    }
}
