import Proofs

/// The columns of a scheduled data export, found by the names in its header. Unknown columns are ignored.
///
/// Source: "Data Export Version 5" in RevenueCat's documentation.
package struct ExportColumns: Sendable {
    enum Column: String, CaseIterable, Sendable {
        case originalAppUserIdentifier = "rc_original_app_user_id"
        case lastSeenAlias = "rc_last_seen_app_user_id_alias"
        case productIdentifier = "product_identifier"
        case startTime = "start_time"
        case endTime = "end_time"
        case store
        case isSandbox = "is_sandbox"
        case originalTransactionIdentifier = "original_store_transaction_id"
        case refundedAt = "refunded_at"
        case entitlementIdentifiers = "entitlement_identifiers"
        case effectiveEndTime = "effective_end_time"
        case reservedAttributes = "reserved_subscriber_attributes"
        case customAttributes = "custom_subscriber_attributes"
        case updatedAt = "updated_at"

        var isRequired: Bool {
            switch self {
            case .effectiveEndTime, .reservedAttributes, .customAttributes, .updatedAt: false
            default: true
            }
        }
    }

    private let places: [Column: Int]
    /// The number of fields of each row.
    let count: Int

    /// - Throws: `ExportFileError`, `headerInvalid`, `columnMissing` or `columnRepeated`.
    package init(_ header: CSVReader.Record?) throws(ExportFileError) {
        guard let header, header.problem == nil else { throw .headerInvalid }
        var places: [Column: Int] = [:]
        for (place, name) in header.fields.enumerated() {
            guard let column = Column(rawValue: name) else { continue }
            guard places.updateValue(place, forKey: column) == nil else { throw .columnRepeated(name) }
        }
        if let missing = Column.allCases.first(where: { $0.isRequired && places[$0] == nil }) {
            // A file of another kind misses all of them.
            guard !places.isEmpty else { throw .headerInvalid }
            throw .columnMissing(missing.rawValue)
        }
        self.places = places
        count = header.fields.count
    }

    /// The text of a field; nil for an empty field or a missing column.
    func text(_ column: Column, of fields: [String]) -> String? {
        guard let place = places[column], fields.indices.contains(place), !fields[place].isEmpty else { return nil }
        return fields[place]
    }
}
