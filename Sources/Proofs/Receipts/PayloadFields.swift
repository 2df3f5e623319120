import Foundation
import Synchronization

/// Typed access to the fields of a signed JSON object. `null` and an empty text equal an absent field.
///
/// The store's signature is the authority. A field in another form is read as absent and noted, unless a decision needs
/// it. Then it is an error, because a guess could grant too much or take what was bought.
struct PayloadFields {
    let object: JSONObject
    /// The names of the optional fields that are an error in another form.
    var deciding: Set<String> = []
    var unreadable = UnreadableFields()

    /// The years 1 to 9999. Xcode writes year 1, and the calendar ends with year 9999.
    private static let dates: ClosedRange<Int64> = -62_135_769_600_000...Timestamp.endOfYear9999

    /// The same fields, of which a decision needs some.
    func deciding(_ names: Set<String>) -> PayloadFields {
        PayloadFields(object: object, deciding: names, unreadable: unreadable)
    }

    /// The fields that were read as absent because of their form, also those of inner objects, in order.
    var unreadableNames: [String] { unreadable.names.withLock { $0.sorted() } }

    /// A text. The digits of a number are the text of an identifier.
    func string(_ name: String, isRequired: Bool = false) throws(ProofRefusal) -> String? {
        let decides = isRequired || deciding.contains(name)
        return try value(name, "a string", decides) { value in
            switch value {
            case .string(let text) where !text.hasNUL: text
            case .number(let number) where !decides: number.text
            default: nil
            }
        }
    }

    func requiredString(_ name: String) throws(ProofRefusal) -> String {
        guard let text = try string(name, isRequired: true) else { throw missing(name) }
        return text
    }

    /// A whole number in any spelling, such as `1` and `1.0`.
    func integer(_ name: String, isRequired: Bool = false) throws(ProofRefusal) -> Int64? {
        try value(name, "a whole number", isRequired || deciding.contains(name)) { value in
            guard case .number(let number) = value else { return nil }
            return number.int64 ?? number.double.flatMap { Int64(exactly: $0) }
        }
    }

    func requiredInteger(_ name: String) throws(ProofRefusal) -> Int64 {
        guard let integer = try integer(name, isRequired: true) else { throw missing(name) }
        return integer
    }

    /// The quantity of a product, from 1 to 2147483647. It is 1 if the store sends none.
    func quantity(_ name: String) throws(ProofRefusal) -> Int {
        let quantity = try integer(name, isRequired: true) ?? 1
        guard (1...Int64(Int32.max)).contains(quantity) else {
            throw ProofRefusal(.payloadInvalid, "The field \(name) must be from 1 to \(Int32.max).")
        }
        return Int(quantity)
    }

    /// True or false. Apple's verifyReceipt writes the same facts as `"true"` and `"1"`.
    func bool(_ name: String) throws(ProofRefusal) -> Bool? {
        try value(name, "true or false", deciding.contains(name)) { value in
            switch value {
            case .bool(true), "true", "1", .number(JSONNumber(1)): true
            case .bool(false), "false", "0", .number(JSONNumber(0)): false
            default: nil
            }
        }
    }

    /// A date in milliseconds since 1970, rounded down. Xcode writes a fraction.
    func date(_ name: String, isRequired: Bool = false) throws(ProofRefusal) -> Timestamp? {
        let expected = "a date in milliseconds, from year 1 to 9999"
        return try value(name, expected, isRequired || deciding.contains(name)) { value in
            guard case .number(let number) = value,
                let milliseconds = number.int64 ?? number.double.flatMap({ Int64(exactly: $0.rounded(.down)) }),
                Self.dates.contains(milliseconds)
            else { return nil }
            return Timestamp(millisecondsSince1970: milliseconds)
        }
    }

    func requiredDate(_ name: String) throws(ProofRefusal) -> Timestamp {
        guard let date = try date(name, isRequired: true) else { throw missing(name) }
        return date
    }

    func uuid(_ name: String) throws(ProofRefusal) -> UUID? {
        guard let text = try string(name) else { return nil }
        if let uuid = UUID(uuidString: text) { return uuid }
        return try absent(name, mismatch(name, "a UUID", .string(text)), deciding.contains(name))
    }

    func strings(_ name: String) throws(ProofRefusal) -> [String]? {
        try value(name, "an array of strings", deciding.contains(name)) { value in
            guard case .array(let values) = value else { return nil }
            let strings = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
            return strings.count == values.count ? strings : nil
        }
    }

    func object(_ name: String) throws(ProofRefusal) -> PayloadFields? {
        try value(name, "an object", deciding.contains(name)) { value in
            guard case .object(let object) = value else { return nil }
            return PayloadFields(object: object, unreadable: unreadable)
        }
    }

    /// Reads the objects of an array. An object without one of its required fields is in another form.
    func objects<Value>(
        _ name: String,
        _ read: (PayloadFields) throws(ProofRefusal) -> Value
    ) throws(ProofRefusal) -> [Value]? {
        let values = try array(name)
        do {
            return try values?.map { (value) throws(ProofRefusal) in
                guard case .object(let object) = value else { throw mismatch(name, "an array of objects", value) }
                return try read(PayloadFields(object: object, unreadable: unreadable))
            }
        } catch {
            return try absent(name, error, deciding.contains(name))
        }
    }

    /// Reads the objects of an array, and leaves those in another form out.
    ///
    /// - Returns: The values, and the number of elements that are left out.
    func readableObjects<Value>(
        _ name: String,
        _ read: (PayloadFields) throws(ProofRefusal) -> Value
    ) throws(ProofRefusal) -> (values: [Value], unreadable: Int) {
        let elements = try array(name) ?? []
        let values = elements.compactMap { element -> Value? in
            guard case .object(let object) = element else { return nil }
            return try? read(PayloadFields(object: object, unreadable: unreadable))
        }
        return (values, elements.count - values.count)
    }

    private func array(_ name: String) throws(ProofRefusal) -> [JSONValue]? {
        try value(name, "an array", deciding.contains(name)) { value in
            if case .array(let values) = value { values } else { nil }
        }
    }

    /// Reads fields, which notes those in another form.
    ///
    /// - Throws: `ProofRefusal` for a required field that is missing or in another form.
    func check(_ forms: [String: PayloadForm]) throws(ProofRefusal) {
        for (name, form) in forms { _ = try states(name, form) }
    }

    /// The JSON of an object with known fields; nil for another form.
    func json(_ name: String, _ forms: [String: PayloadForm]) throws(ProofRefusal) -> String? {
        try states(name, .object(forms)) ? object[name]?.compactText : nil
    }

    /// True if a field is stated in its form.
    func states(_ name: String, _ form: PayloadForm) throws(ProofRefusal) -> Bool {
        switch form {
        case .text: return try string(name) != nil
        case .integer: return try integer(name) != nil
        case .date: return try date(name) != nil
        case .texts: return try strings(name) != nil
        case .object(let inner):
            guard let fields = try object(name) else { return false }
            do { try fields.check(inner) } catch { return try absent(name, error, deciding.contains(name)) ?? false }
            return true
        case .objects(let inner):
            return try objects(name) { (fields) throws(ProofRefusal) in try fields.check(inner) } != nil
        case .required(let form):
            guard try deciding([name]).states(name, form) else { throw missing(name) }
            return true
        }
    }

    /// The value of a field; nil if the store has stated nothing.
    private func value<Value>(
        _ name: String,
        _ expected: String,
        _ decides: Bool,
        _ read: (JSONValue) -> Value?
    ) throws(ProofRefusal) -> Value? {
        switch object[name] {
        case nil, .null: return nil
        case .string(let text) where text.isEmpty: return nil
        case .some(let stated):
            if let value = read(stated) { return value }
            return try absent(name, mismatch(name, expected, stated), decides)
        }
    }

    private func missing(_ name: String) -> ProofRefusal {
        ProofRefusal(.payloadInvalid, "The field \(name) is missing.")
    }

    private func mismatch(_ name: String, _ expected: String, _ value: JSONValue) -> ProofRefusal {
        ProofRefusal(.payloadInvalid, "The field \(name) must be \(expected); it is of type \(value.kind).")
    }

    /// Notes a field in another form, and reads it as absent.
    ///
    /// - Throws: `ProofRefusal` if a decision needs the field.
    private func absent<Value>(_ name: String, _ error: ProofRefusal, _ decides: Bool) throws(ProofRefusal) -> Value? {
        guard !decides else { throw error }
        unreadable.names.withLock { _ = $0.insert(name) }
        return nil
    }
}

extension PayloadFields {
    /// Reads the text of a payload.
    init(json bytes: [UInt8], upTo maximumSize: Int = JSONParser.Limits().bytes) throws(ProofRefusal) {
        let value: JSONValue
        do { value = try JSONParser.parse(bytes, limits: .init(bytes: maximumSize)) } catch {
            throw ProofRefusal(error)
        }
        try self.init(value)
    }

    init(_ value: JSONValue) throws(ProofRefusal) {
        guard case .object(let object) = value else {
            throw ProofRefusal(.payloadInvalid, "The payload must be a JSON object.")
        }
        self.init(object: object)
    }
}

/// The form of a known field in an object that is kept as JSON.
package indirect enum PayloadForm: Sendable {
    case text, integer, date, texts
    case object([String: PayloadForm])
    case objects([String: PayloadForm])
    /// A field without which its object is in another form.
    case required(PayloadForm)
}

/// The names of the fields that were read as absent because of their form.
final class UnreadableFields: Sendable {
    let names = Mutex<Set<String>>([])
}

/// The forms of the objects in transactions and renewal information. The ledger keeps their JSON.
extension PayloadForm {
    /// The progress of a commitment of several billing periods (`commitmentInfo` of a transaction).
    static let commitment: [String: PayloadForm] = [
        "billingPeriodNumber": .integer, "commitmentExpiresDate": .date, "commitmentPrice": .integer,
        "totalBillingPeriods": .integer,
    ]
    /// The continuation of a commitment of several billing periods (`commitmentInfo` of renewal information; price in
    /// milliunits).
    static let renewalCommitment: [String: PayloadForm] = [
        "commitmentAutoRenewProductId": .text, "commitmentAutoRenewStatus": .integer,
        "commitmentRenewalBillingPlanType": .text, "commitmentRenewalDate": .date, "commitmentRenewalPrice": .integer,
    ]
    /// The seats of a purchase (`multiSeatInfo` of a transaction). After a refund of some, it stays valid for the others.
    static let seats: [String: PayloadForm] = [
        "invitationManagement": .text, "priceTiers": priceTiers, "revokedSeatQuantity": .integer,
    ]
    /// The seats of the next period of a subscription (`multiSeatInfo` of renewal information).
    static let renewalSeats: [String: PayloadForm] = ["renewalPriceTiers": priceTiers]
    /// The Advanced Commerce part of a transaction (`advancedCommerceInfo`).
    static let commerce: [String: PayloadForm] = [
        "descriptors": descriptors, "estimatedTax": .integer,
        "items": items([
            "refunds": .objects([
                "refundAmount": .integer, "refundDate": .date, "refundReason": .text, "refundType": .text,
            ]), "revocationDate": .date,
        ]), "period": .text, "requestReferenceId": .text, "taxCode": .text, "taxExclusivePrice": .integer,
        "taxRate": .text,
    ]
    /// The Advanced Commerce part of renewal information (`advancedCommerceInfo`).
    static let renewalCommerce: [String: PayloadForm] = [
        "consistencyToken": .text, "descriptors": descriptors,
        "items": items(["priceIncreaseInfo": .object(["dependentSKUs": .texts, "price": .integer, "status": .text])]),
        "period": .text, "requestReferenceId": .text, "taxCode": .text,
    ]

    private static let priceTiers = objects(["price": .required(.integer), "quantity": .required(.integer)])

    /// The display name and the description of a purchase.
    private static let descriptors = object(["description": .required(.text), "displayName": .required(.text)])

    /// The items of a purchase or a subscription, each with the offer on it.
    private static func items(_ others: [String: PayloadForm]) -> PayloadForm {
        let common: [String: PayloadForm] = [
            "SKU": .text, "description": .text, "displayName": .text,
            "offer": .object([
                "period": .required(.text), "periodCount": .required(.integer), "price": .required(.integer),
                "reason": .required(.text),
            ]), "price": .integer,
        ]
        return .objects(common.merging(others) { $1 })
    }
}
