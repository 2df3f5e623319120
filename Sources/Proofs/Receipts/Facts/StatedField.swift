/// A row of a table of Apple's fields. The ledger, the answers of the service and the console follow from it.
public struct StatedField: Sendable {
    /// The form of a value, in Apple's payloads, in the ledger and in answers.
    public enum Kind: Sendable {
        case text
        case integer
        /// In the ledger 1 or 0.
        case bool
        /// In the ledger milliseconds since 1970, in answers RFC 3339.
        case date
        /// A UUID in lower case.
        case token
        /// An array of strings. In the ledger the text of the JSON.
        case texts
        /// In the ledger the text of the JSON.
        case object
    }

    /// The statements about one transaction that decide a field.
    public enum Source: Sendable {
        /// The last one that has the field.
        case anyStatement
        /// The last signed one. Without the field, it takes back what earlier ones have stated.
        case lastStatement
        /// The app receipts. No signed transaction has the field.
        case appReceipts
    }

    /// The column of the ledger; null if the App Store has not stated the field.
    public let column: String
    public let kind: Kind
    /// The meaning in a few words.
    public let meaning: String
    public let source: Source
    /// The type of an object. An object in another form is absent.
    private let object: (any PayloadObject.Type)?

    private init(
        _ column: String,
        _ kind: Kind,
        _ meaning: String,
        _ source: Source,
        object: (any PayloadObject.Type)? = nil
    ) {
        self.column = column
        self.kind = kind
        self.meaning = meaning
        self.source = source
        self.object = object
    }

    static func text(_ column: String, _ meaning: String, by source: Source = .anyStatement) -> StatedField {
        StatedField(column, .text, meaning, source)
    }

    static func integer(_ column: String, _ meaning: String, by source: Source = .anyStatement) -> StatedField {
        StatedField(column, .integer, meaning, source)
    }

    static func bool(_ column: String, _ meaning: String, by source: Source = .anyStatement) -> StatedField {
        StatedField(column, .bool, meaning, source)
    }

    static func date(_ column: String, _ meaning: String, by source: Source = .anyStatement) -> StatedField {
        StatedField(column, .date, meaning, source)
    }

    static func token(_ column: String, _ meaning: String, by source: Source = .anyStatement) -> StatedField {
        StatedField(column, .token, meaning, source)
    }

    static func texts(_ column: String, _ meaning: String) -> StatedField {
        StatedField(column, .texts, meaning, .anyStatement)
    }

    static func object(
        _ object: any PayloadObject.Type,
        _ column: String,
        _ meaning: String,
        by source: Source = .anyStatement
    ) -> StatedField {
        StatedField(column, .object, meaning, source, object: object)
    }

    /// Reads the field of a signed payload.
    func value(_ name: String, in fields: PayloadFields) throws(PayloadError) -> StatedValue? {
        switch kind {
        case .text: return try fields.string(name).map { .text($0) }
        case .integer: return try fields.integer(name).map { .integer($0) }
        case .bool: return try fields.bool(name).map { .integer($0 ? 1 : 0) }
        case .date: return try fields.date(name).map { .integer($0.millisecondsSince1970) }
        case .token: return try fields.uuid(name).map { .text($0.lowercasedString) }
        case .texts:
            guard try fields.strings(name) != nil else { return nil }
        case .object:
            guard let object, try fields.object(name, object) != nil else { return nil }
        }
        return fields.object[name].map { .text($0.compactText) }
    }
}

/// A table of Apple's fields. A case has Apple's name, and its raw value is the name in the answers of the service.
public protocol StatedFact: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    var field: StatedField { get }
    /// The facts by their columns.
    static var byColumn: [String: Self] { get }
}

extension StatedFact {
    static func factsByColumn() -> [String: Self] {
        Dictionary(uniqueKeysWithValues: allCases.map { ($0.field.column, $0) })
    }
}
