import Features
import Proofs
import Vocabulary

/// A row of a scheduled data export: one transaction of a customer.
package struct ExportRow: Hashable, Sendable {
    /// The reason why a row is invalid. It contains no value of the row, because values are personal data.
    package struct Invalid: Error, Hashable, Sendable {
        package let reason: String

        static func column(_ column: ExportColumns.Column, _ expected: String) -> Invalid {
            Invalid(reason: "\(column.rawValue) is not \(expected)")
        }
    }

    private static let maximumIdentifierLength = 255

    package let customer: CustomerIdentifier
    /// The id that the app used last; nil if it is the same.
    package let alias: CustomerIdentifier?
    package let productIdentifier: String
    /// The store's name, such as `app_store`.
    package let store: String
    package let isSandbox: Bool
    package let startTime: Timestamp
    /// The end with a grace period; nil for none.
    package let endTime: Timestamp?
    /// Empty if the export has none.
    package let originalTransactionIdentifier: String
    package let isRefunded: Bool
    /// The names of the rights.
    package let entitlements: [String]
    package let attributes: [Attribute]
    /// The number of attributes that Till does not accept.
    package let refusedAttributes: Int

    package init(_ fields: [String], _ columns: ExportColumns) throws(Invalid) {
        guard fields.count == columns.count else {
            throw Invalid(reason: "it has \(fields.count) fields instead of \(columns.count)")
        }
        let reader = Reader(fields: fields, columns: columns)
        customer = try reader.customer(.originalAppUserIdentifier)
        let lastSeen = try columns.text(.lastSeenAlias, of: fields) == nil ? nil : reader.customer(.lastSeenAlias)
        alias = lastSeen == customer ? nil : lastSeen
        productIdentifier = try reader.identifier(.productIdentifier)
        store = try reader.store()
        isSandbox = try reader.bool(.isSandbox)
        guard let startTime = try reader.time(.startTime) else { throw .column(.startTime, "a time") }
        self.startTime = startTime
        let ends = (effective: try reader.time(.effectiveEndTime), stated: try reader.time(.endTime))
        endTime = ends.effective ?? ends.stated
        originalTransactionIdentifier =
            try columns.text(.originalTransactionIdentifier, of: fields) == nil
            ? "" : reader.identifier(.originalTransactionIdentifier)
        isRefunded = try reader.time(.refundedAt) != nil
        entitlements = try reader.names(.entitlementIdentifiers)
        let statedAt = try reader.time(.updatedAt) ?? startTime
        let reserved = try reader.attributes(.reservedAttributes, statedAt: statedAt)
        let custom = try reader.attributes(.customAttributes, statedAt: statedAt)
        attributes = reserved.accepted + custom.accepted
        refusedAttributes = reserved.refused + custom.refused
    }

    private struct Reader {
        let fields: [String]
        let columns: ExportColumns

        func customer(_ column: ExportColumns.Column) throws(Invalid) -> CustomerIdentifier {
            guard let text = columns.text(column, of: fields), let customer = CustomerIdentifier(text) else {
                throw .column(column, "an id of 1 to \(CustomerIdentifier.maximumLength) bytes")
            }
            return customer
        }

        func identifier(_ column: ExportColumns.Column) throws(Invalid) -> String {
            guard let text = columns.text(column, of: fields), text.utf8.count <= maximumIdentifierLength,
                text.isVisibleASCII
            else {
                throw .column(column, "an identifier of 1 to \(maximumIdentifierLength) visible ASCII characters")
            }
            return text
        }

        func store() throws(Invalid) -> String {
            guard let text = columns.text(.store, of: fields), text.utf8.count <= 32,
                text.utf8.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) || $0 == 0x5F })
            else { throw .column(.store, "the name of a store") }
            return text.lowercased()
        }

        func bool(_ column: ExportColumns.Column) throws(Invalid) -> Bool {
            guard let text = columns.text(column, of: fields), text.utf8.count <= 5 else {
                throw .column(column, "true or false")
            }
            switch text.lowercased() {
            case "true", "t", "1": return true
            case "false", "f", "0": return false
            default: throw .column(column, "true or false")
            }
        }

        /// A time in UTC, such as `2026-11-24 09:18:06.123` or `2026-11-24T09:18:06Z`; nil for an empty field.
        func time(_ column: ExportColumns.Column) throws(Invalid) -> Timestamp? {
            guard let text = columns.text(column, of: fields) else { return nil }
            guard let time = Self.time(text) else { throw .column(column, "a time in UTC") }
            return time
        }

        private static func time(_ text: String) -> Timestamp? {
            guard (19...40).contains(text.utf8.count), text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
            var bytes = Array(text.utf8)
            if bytes[10] == UInt8(ascii: " ") { bytes[10] = UInt8(ascii: "T") }
            var time = String(decoding: bytes, as: UTF8.self)
            if time.hasSuffix(" UTC") { time = String(time.dropLast(4)) }
            let hasOffset = time.utf8.dropFirst(19).contains { "Zz+-".utf8.contains($0) }
            return Timestamp(internetDateTime: hasOffset ? time : time + "Z")
        }

        /// The texts of a JSON array; empty for an empty field.
        func names(_ column: ExportColumns.Column) throws(Invalid) -> [String] {
            guard let value = try json(column), value != .null else { return [] }
            guard case .array(let values) = value else { throw .column(column, "a JSON array of texts") }
            return try values.map { value throws(Invalid) in
                guard case .string(let name) = value else { throw .column(column, "a JSON array of texts") }
                return name
            }
        }

        /// The members of a JSON object: each a text, or an object with a value and the time of its statement.
        func attributes(
            _ column: ExportColumns.Column,
            statedAt: Timestamp
        ) throws(Invalid) -> (accepted: [Attribute], refused: Int) {
            guard let value = try json(column), value != .null else { return ([], 0) }
            guard case .object(let object) = value else { throw .column(column, "a JSON object") }
            var accepted: [Attribute] = []
            var refused = 0
            for member in object.members {
                var (value, moment) = (member.value, statedAt)
                if case .object(let statement) = value {
                    value = statement["value"] ?? .null
                    if case .number(let number)? = statement["updated_at_ms"], let milliseconds = number.int64 {
                        moment = Timestamp(millisecondsSince1970: milliseconds)
                    }
                }
                let text: String?
                switch value {
                case .string(let string): text = string
                case .null: text = nil
                default: throw .column(column, "an object of texts")
                }
                guard let attribute = try? Attribute(name: member.key, value: text, statedAt: moment) else {
                    refused += 1
                    continue
                }
                accepted.append(attribute)
            }
            return (accepted, refused)
        }

        /// The JSON of a field; nil for an empty field. Until version 6 of the export, the JSON of a field is in quotes of its
        /// own.
        private func json(_ column: ExportColumns.Column) throws(Invalid) -> JSONValue? {
            guard let text = columns.text(column, of: fields) else { return nil }
            if let value = try? JSONParser.parse(Array(text.utf8)) {
                guard case .string(let inner) = value else { return value }
                if let value = try? JSONParser.parse(Array(inner.utf8)) { return value }
            }
            if text.utf8.count > 2, text.hasPrefix("\""), text.hasSuffix("\"") {
                let inner = text.dropFirst().dropLast().replacing("\"\"", with: "\"")
                if let value = try? JSONParser.parse(Array(inner.utf8)) { return value }
            }
            throw .column(column, "JSON")
        }
    }
}

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
