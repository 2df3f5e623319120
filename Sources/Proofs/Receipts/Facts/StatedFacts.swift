/// Facts stated by the App Store, by name. Facts that it has not stated are absent.
public struct StatedFacts<Fact: StatedFact>: Hashable, Sendable {
    public private(set) var values: [Fact: StatedValue]

    public init(_ values: [Fact: StatedValue] = [:]) {
        self.values = values
    }

    public var isEmpty: Bool { values.isEmpty }

    public subscript(fact: Fact) -> StatedValue? {
        get { values[fact] }
        set { values[fact] = newValue }
    }

    public func text(_ fact: Fact) -> String? {
        if case .text(let text) = values[fact] { text } else { nil }
    }

    public func integer(_ fact: Fact) -> Int64? {
        if case .integer(let number) = values[fact] { number } else { nil }
    }

    public func bool(_ fact: Fact) -> Bool? { integer(fact).map { $0 != 0 } }

    public func date(_ fact: Fact) -> Timestamp? { integer(fact).map { Timestamp(millisecondsSince1970: $0) } }
}

/// Encodes an object with one member per fact, under the name of its column. The decoder ignores unknown members.
extension StatedFacts: Codable {
    public init(from decoder: any Decoder) throws {
        let members = try [String: StatedValue](from: decoder)
        self.init(
            Dictionary(
                uniqueKeysWithValues: members.compactMap { name, value in Fact.byColumn[name].map { ($0, value) } }))
    }

    public func encode(to encoder: any Encoder) throws {
        let members = values.map { fact, value in (fact.field.column, value) }
        try Dictionary(uniqueKeysWithValues: members).encode(to: encoder)
    }
}

extension StatedFacts {
    /// Reads the fields of a signed payload.
    init(_ fields: PayloadFields) throws(PayloadError) {
        values = [:]
        values.reserveCapacity(Fact.allCases.count)
        for fact in Fact.allCases where fact.field.source != .appReceipts {
            values[fact] = try fact.field.value(fact.rawValue, in: fields)
        }
    }

    /// Reads the JSON object of a fact; nil if it was not stated.
    func object<Value: PayloadObject>(_ fact: Fact) -> Value? {
        guard let text = text(fact), let json = try? JSONParser.parse(Array(text.utf8)) else { return nil }
        return try? Value(PayloadFields(json))
    }

    mutating func set(_ fact: Fact, _ text: String?) { values[fact] = text.map { .text($0) } }

    mutating func set(_ fact: Fact, _ number: Int64?) { values[fact] = number.map { .integer($0) } }

    mutating func set(_ fact: Fact, _ bool: Bool?) { values[fact] = bool.map { .integer($0 ? 1 : 0) } }

    mutating func set(_ fact: Fact, _ date: Timestamp?) {
        values[fact] = date.map { .integer($0.millisecondsSince1970) }
    }
}
