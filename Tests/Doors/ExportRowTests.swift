import Proofs
import Service
import TestSupport
import Testing

/// The columns and values of scheduled data exports.
@Suite struct ExportRowTests {
    private typealias Fixture = ExportFixture

    private static func row(_ changes: [String: String]) throws -> ExportRow {
        try ExportRow(Fixture.row(changes), try Fixture.columns())
    }

    @Test func `columns are found by their names, in any order and among unknown ones`() throws {
        let names = Array(Fixture.header.reversed()) + ["added_later"]
        let row = try ExportRow(Array(Fixture.row().reversed()) + ["x"], try Fixture.columns(names))
        #expect(row.customer.text == "mint" && row.productIdentifier == "garden.gate")
        #expect(row.originalTransactionIdentifier == "1" && row.alias == nil && !row.isSandbox && !row.isRefunded)
        #expect(row.startTime == Timestamp(rfc3339: "2026-01-31T12:00:00Z") && row.endTime == nil)
    }

    @Test func `a header without a required column is refused`() throws {
        for name in ["rc_original_app_user_id", "store", "original_store_transaction_id", "refunded_at"] {
            #expect(throws: ExportFileError.columnMissing(name)) {
                try Fixture.columns(Fixture.header.filter { $0 != name })
            }
        }
        #expect(throws: ExportFileError.columnRepeated("store")) { try Fixture.columns(Fixture.header + ["store"]) }
        #expect(throws: ExportFileError.headerInvalid) { try Fixture.columns(["a", "b"]) }
        #expect(throws: ExportFileError.headerInvalid) { try ExportColumns(nil) }
        _ = try Fixture.columns(Fixture.header.filter { !["updated_at", "effective_end_time"].contains($0) })
    }

    @Test(arguments: [
        ("2026-01-31 12:00:00", "2026-01-31T12:00:00Z"), ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"),
        ("2026-01-31 12:00:00.123456", "2026-01-31T12:00:00Z"), ("2026-01-31 12:00:00 UTC", "2026-01-31T12:00:00Z"),
        ("2026-01-31 12:00:00.000+01:00", "2026-01-31T11:00:00Z"), ("2226-01-31T00:00:00Z", "2226-01-31T00:00:00Z"),
    ])
    func `times are in UTC`(text: String, time: String) throws {
        #expect(try Self.row(["end_time": text]).endTime == Timestamp(rfc3339: time))
    }

    @Test func `the effective end includes a grace period`() throws {
        let row = try Self.row(["end_time": "2026-01-31 00:00:00", "effective_end_time": "2026-02-16 00:00:00"])
        #expect(row.endTime == Timestamp(rfc3339: "2026-02-16T00:00:00Z"))
    }

    /// Until version 6 of the export, the JSON of a field is in quotes of its own.
    @Test(arguments: [
        #"["plus","premium"]"#, #""["plus","premium"]""#, #""[""plus"",""premium""]""#, #""[\"plus\",\"premium\"]""#,
    ])
    func `entitlements are a JSON array, in quotes or not`(text: String) throws {
        #expect(try Self.row(["entitlement_identifiers": text]).entitlements == ["plus", "premium"])
    }

    @Test func `attributes are texts, or statements with a time`() throws {
        let row = try Self.row([
            "reserved_subscriber_attributes": #"{"$email": {"value": "a@b.example", "updated_at_ms": 5}}"#,
            "custom_subscriber_attributes": #"{"level": "7", "gone": null, "": "x"}"#,
        ])
        let statedAt = try #require(Timestamp(rfc3339: "2026-02-01T00:00:00Z"))
        #expect(row.attributes.map(\.name) == ["$email", "level", "gone"])
        #expect(row.attributes.map(\.value) == ["a@b.example", "7", nil])
        #expect(row.attributes.map(\.statedAt) == [Timestamp(millisecondsSince1970: 5), statedAt, statedAt])
        #expect(row.refusedAttributes == 1)
    }

    @Test(arguments: [
        ("rc_original_app_user_id", ""), ("rc_original_app_user_id", String(repeating: "a", count: 257)),
        ("product_identifier", ""), ("product_identifier", "a b"), ("start_time", ""), ("start_time", "yesterday"),
        ("end_time", "2026-02-30 00:00:00"), ("refunded_at", "-"), ("store", ""), ("store", "app store"),
        ("is_sandbox", "no"), ("original_store_transaction_id", "1\n2"), ("entitlement_identifiers", "premium"),
        ("entitlement_identifiers", "[1]"), ("custom_subscriber_attributes", "[]"),
        ("custom_subscriber_attributes", #"{"a": 1}"#), ("reserved_subscriber_attributes", "{"),
    ])
    func `an invalid value is refused by the name of its column, without the value`(name: String, value: String) throws
    {
        let error = #expect(throws: ExportRow.Invalid.self) { try Self.row([name: value]) }
        let reason = try #require(error?.reason)
        #expect(reason.hasPrefix("\(name) is not "))
        #expect(value.count < 3 || !reason.contains(value))
    }

    @Test func `a row needs a field for each column`() throws {
        let columns = try Fixture.columns()
        for fields in [Array(Fixture.row().dropLast()), Fixture.row() + [""]] {
            #expect(throws: ExportRow.Invalid.self) { try ExportRow(fields, columns) }
        }
    }
}
