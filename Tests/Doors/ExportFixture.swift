import Catalog
import Foundation
import Proofs
import Service
import TestSupport
import Testing

/// The rows of scheduled data exports, and the garden's catalog with rights.
struct ExportFixture {
    static let now = Timestamp(secondsSince1970: 1_790_000_000)
    static let header = [
        "rc_original_app_user_id", "rc_last_seen_app_user_id_alias", "country", "product_identifier", "start_time",
        "end_time", "effective_end_time", "store", "is_sandbox", "store_transaction_id",
        "original_store_transaction_id", "refunded_at", "entitlement_identifiers", "reserved_subscriber_attributes",
        "custom_subscriber_attributes", "updated_at",
    ]

    /// A row of an App Store purchase by "mint", with other values for some columns.
    static func row(_ changes: [String: String] = [:]) -> [String] {
        let values = [
            "rc_original_app_user_id": "mint", "rc_last_seen_app_user_id_alias": "mint", "country": "KR",
            "product_identifier": "garden.gate", "start_time": "2026-01-31 12:00:00", "store": "app_store",
            "is_sandbox": "false", "store_transaction_id": "1", "original_store_transaction_id": "1",
            "updated_at": "2026-02-01 00:00:00.123",
        ].merging(changes) { $1 }
        return header.map { values[$0] ?? "" }
    }

    static func record(_ fields: [String], line: Int = 2) throws -> CSVReader.Record {
        let text = fields.map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }.joined(separator: ",")
        var rest: Data? = Data((String(repeating: "\n", count: line - 1) + text).utf8)
        var reader = CSVReader {
            defer { rest = nil }
            return rest ?? Data()
        }
        for _ in 1..<line { _ = try reader.next() }
        return try #require(try reader.next())
    }

    static func columns(_ names: [String] = header) throws -> ExportColumns {
        try ExportColumns(try record(names))
    }

    /// The garden's catalog. `premium` is a right of plus 2, `plus` one of both levels, `season` one of a product.
    static func catalog() throws -> Catalog {
        let folder = try TestGarden().folder
        let rights = """
            {"rights": [
              {"name": "plus", "items": [{"collection": "plus", "number": 2}, {"collection": "plus", "number": 1}]},
              {"name": "premium", "items": [{"collection": "plus", "number": 2}]},
              {"name": "season", "products": ["garden.season"]}
            ], "offerings": []}
            """
        let catalog = folder.folder("catalog")
        try Data(rights.utf8).write(to: catalog.appending(path: Catalog.offeringsFile))
        return try Catalog(folder: catalog)
    }

    static func rules(_ origin: Origin = .appleProduction) throws -> ExportRules {
        try catalog().exportRules(accepting: origin, at: now)
    }
}
