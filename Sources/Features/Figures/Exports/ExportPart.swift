import Foundation
import Ledger
import Proofs

/// The use cases of exports for analysis: a whole export as one snapshot, or in parts.
extension Export {
    /// The allowed numbers of users in a part.
    package static let partSizes = 1...1000
    package static let standardPartSize = 200

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
    ///   - product: Returns a product of the catalog; nil if the catalog has none of the identifier.
    package func part(
        of ledger: Ledger,
        in app: String? = nil,
        as format: ExportFormat,
        after position: ExportPosition?,
        users limit: Int,
        at moment: Timestamp,
        product: @escaping @Sendable (String) -> Product?
    ) async throws -> Part {
        let text = ExportText(export: self, format: format)
        let start = position ?? ExportPosition(until: moment, user: .min)
        let page = try await ledger.read(.longSnapshot) {
            try ExportRecords(database: $0.database, app: app, product: product)
                .page(of: self, after: start.user, until: start.until, limit: limit)
        }
        return Part(
            text: (position == nil ? text.header : "") + text.text(of: page.rows),
            next: page.last.map { ExportPosition(until: start.until, user: $0) })
    }

    /// Writes all of a ledger as one snapshot, while other writes continue. It needs memory for one page.
    ///
    /// - Parameters:
    ///   - product: Returns a product of the catalog; nil if the catalog has none of the identifier.
    ///   - output: Receives whole lines.
    /// - Returns: The number of rows.
    /// - Throws: `StorageFault`, and the errors of `output`.
    package func write(
        _ ledger: Ledger,
        as format: ExportFormat,
        product: @escaping (String) -> Product?,
        to output: (Data) throws(BackupError) -> Void
    ) throws -> Int {
        let text = ExportText(export: self, format: format)
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
                    .page(of: self, after: last, until: end, limit: Self.standardPartSize)
                try output(Data(text.text(of: page.rows).utf8))
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
